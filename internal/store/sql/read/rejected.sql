-- Rejected records that nobody has explained (D15).
SELECT reason, toInt64(count()) AS count
FROM {{.Database}}.rejected_records FINAL
WHERE received_at <= {{.AsOf}} AND NOT (state IN ('explained', 'replayed') AND changed_at <= {{.AsOf}})
GROUP BY reason
ORDER BY reason
