-- blocks_by_minute of an hour of arrival, by hour of the event.
-- Keys of the hour that are no longer found get zeros.
INSERT INTO {{.Database}}.blocks_by_hour
    (hour, arrived, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, blocks, envelope_blocks, weighted_blocks, malformed, malformed_first, malformed_last, sizes, bytes_sum, known_size_blocks, known_bytes_sum, response_bytes_sum, version)
SELECT hour, {{.Hour}}, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
    sum(s.blocks), sum(s.envelope_blocks), sum(s.weighted_blocks), sum(s.malformed), minIf(s.malformed_first, s.malformed > 0), max(s.malformed_last), sumMap(s.sizes), sum(s.bytes_sum), sum(s.known_size_blocks), sum(s.known_bytes_sum), sum(s.response_bytes_sum), {{.Version}}
FROM
(
    SELECT toStartOfHour(m.minute) AS hour, toUInt32(greatest(dateDiff('second', m.arrived, m.minute), 0)) AS lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        m.blocks AS blocks, m.envelope_blocks AS envelope_blocks, m.weighted_blocks AS weighted_blocks, m.malformed AS malformed,
        m.minute AS malformed_first, if(m.malformed > 0, m.minute, toDateTime(0, 'UTC')) AS malformed_last,
        m.sizes AS sizes, m.bytes_sum AS bytes_sum, m.known_size_blocks AS known_size_blocks, m.known_bytes_sum AS known_bytes_sum, m.response_bytes_sum AS response_bytes_sum
    FROM {{.Database}}.blocks_by_minute AS m FINAL
    WHERE m.arrived >= {{.Hour}} AND m.arrived < {{.HourEnd}}
    UNION ALL
    SELECT hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        toUInt64(0) AS blocks, toUInt64(0) AS envelope_blocks, toUInt64(0) AS weighted_blocks, toUInt64(0) AS malformed, toDateTime(0, 'UTC') AS malformed_first, toDateTime(0, 'UTC') AS malformed_last, CAST(map(), 'Map(UInt32, UInt64)') AS sizes, toUInt64(0) AS bytes_sum, toUInt64(0) AS known_size_blocks, toUInt64(0) AS known_bytes_sum, toUInt64(0) AS response_bytes_sum
    FROM {{.Database}}.blocks_by_hour
    WHERE arrived = {{.Hour}}
) AS s
GROUP BY hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id
