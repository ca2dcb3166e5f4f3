SELECT sumIf(e.errors, retryable) / nullIf(sumIf(e.errors, retryable IS NOT NULL), 0) AS retryable_share,
    sumIf(e.errors, off_taxonomy) AS outside_taxonomy, sumIf(e.errors, legacy_error_kind IS NOT NULL) AS with_legacy_kind
FROM {{.Database}}.errors_hourly AS e
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote})
