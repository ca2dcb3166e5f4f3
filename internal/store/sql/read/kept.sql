-- How far back the rollups reach, and whether older rows may have expired (D1).
SELECT
    (SELECT toInt64(toUnixTimestamp(min(minute)) / 60) FROM {{.Database}}.activity_by_minute WHERE calls > 0) AS oldest,
    (SELECT toBool(now() > min(applied_at) + toIntervalDay(toUInt32OrDefault(
        (SELECT max(extract(create_table_query, 'TTL arrived \\+ toIntervalDay\\((\\d+)\\)'))
         FROM system.tables WHERE database = '{{.Database}}' AND name IN ('activity_by_minute', 'activity_by_minute_local')), toUInt32(0))))
     FROM {{.Database}}.schema_migrations) AS expired
