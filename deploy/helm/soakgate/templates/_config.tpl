{{/* The collector's configuration. Secrets stay in the environment and in files.
     Listeners name no address, so that they serve IPv4 and IPv6 alike. */}}
{{- define "soakgate.config" -}}
extensions:
  {{- if include "soakgate.authEnabled" . }}
  bearertokenauth:
    filename: /etc/soakgate/auth/tokens
  {{- end }}
  {{- if .Values.clickhouse.embedded.enabled }}
  clickhouse_embedded:
    path: /var/lib/clickhouse/data
    listen: 127.0.0.1:8123
    memory_limit_mib: {{ .Values.clickhouse.embedded.memoryLimitMiB }}
  {{- end }}
  healthcheckv2/alive:
    use_v2: true
    http:
      endpoint: ":13133"
      status:
        enabled: true
        path: /
  healthcheckv2/ready:
    use_v2: true
    component_health:
      include_permanent_errors: true
      include_recoverable_errors: true
      recovery_duration: 1m
    http:
      endpoint: ":13134"
      status:
        enabled: true
        path: /
receivers:
  soakgate:
    protocols:
      grpc:
        endpoint: ":4317"
        keepalive:
          server_parameters:
            max_connection_age: 10m
            max_connection_age_grace: 30s
        {{- include "soakgate.config.security" . | nindent 8 }}
      http:
        endpoint: ":4318"
        max_connection_age: 10m
        read_timeout: 1m
        {{- include "soakgate.config.security" . | nindent 8 }}
    max_request_size_mib: 20
processors:
  memory_limiter:
    check_interval: 1s
    {{- /* The limiter does not see the embedded engine's memory, which then has the larger part. */}}
    limit_percentage: {{ ternary 35 75 .Values.clickhouse.embedded.enabled }}
    spike_limit_percentage: {{ ternary 10 20 .Values.clickhouse.embedded.enabled }}
exporters:
  soakgate:
    dsn: ${env:SOAKGATE_DSN}
    migrate: {{ not (include "soakgate.migrationJob" .) }}
    {{- with .Values.clickhouse.cluster }}
    cluster: {{ . | quote }}
    {{- end }}
    collector: ${env:SOAKGATE_COLLECTOR}
    journal:
      directory: /var/lib/soakgate/journal
      max_size_mib: {{ include "soakgate.journalMiB" . }}
      max_pending_mib: {{ .Values.journal.maxPendingMiB }}
    retention:
      payload_days: {{ .Values.retention.payloadDays }}
      records_days: {{ .Values.retention.recordsDays }}
      rollup_days: {{ .Values.retention.rollupDays }}
    soak:
      interval: {{ .Values.soak.interval }}
      {{- if .Values.soak.policy }}
      policy: /etc/soakgate/soak-policy.yaml
      {{- end }}
service:
  extensions:
    {{- if .Values.clickhouse.embedded.enabled }}
    - clickhouse_embedded
    {{- end }}
    {{- if include "soakgate.authEnabled" . }}
    - bearertokenauth
    {{- end }}
    - healthcheckv2/alive
    - healthcheckv2/ready
  pipelines:
    logs:
      receivers: [soakgate]
      processors: [memory_limiter]
      exporters: [soakgate]
    traces:
      receivers: [soakgate]
      processors: [memory_limiter]
      exporters: [soakgate]
  telemetry:
    metrics:
      readers:
        - pull:
            exporter:
              prometheus:
                host: ""
                port: 8888
{{- end }}

{{/* TLS and authentication of one listener; nothing when both are off. */}}
{{- define "soakgate.config.security" -}}
{{- if .Values.tls.enabled }}
tls:
  cert_file: /etc/soakgate/tls/tls.crt
  key_file: /etc/soakgate/tls/tls.key
  {{- if .Values.tls.clientAuth }}
  client_ca_file: /etc/soakgate/tls/ca.crt
  {{- end }}
  min_version: "1.2"
  reload_interval: 1h
{{- end }}
{{- if include "soakgate.authEnabled" . }}
auth:
  authenticator: bearertokenauth
{{- end }}
{{- end }}

{{/* The same with what the operator changed, keys sorted: equal values give equal bytes. */}}
{{- define "soakgate.mergedConfig" -}}
{{- mergeOverwrite (include "soakgate.config" . | fromYaml) (deepCopy .Values.config) | toYaml }}
{{- end }}
