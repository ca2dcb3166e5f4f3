SELECT server, tool, sum(r.records) AS answers, min(r.least_remaining) AS least_remaining, sum(r.at_zero) / sum(r.records) AS share_at_zero,
    sum(r.retry_after_count) AS told_to_wait, if(told_to_wait > 0, sum(r.retry_after_ms_sum) / told_to_wait / 1000, NULL) AS mean_wait, max(r.retry_after_ms_max) / 1000 AS longest_wait
FROM {{.Database}}.rate_limits_hourly AS r
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND r.records > 0
GROUP BY server, tool
ORDER BY share_at_zero DESC, answers DESC
LIMIT 50
