{{- define "soakgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Short enough that the longest suffix still makes a name of 52, a CronJob's limit. */}}
{{- define "soakgate.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "soakgate.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "soakgate.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels by which pods are found: never change them, a StatefulSet's selector cannot be. */}}
{{- define "soakgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "soakgate.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "soakgate.labels" -}}
{{ include "soakgate.selectorLabels" . }}
app.kubernetes.io/part-of: soakgate
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "soakgate.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "soakgate.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{- define "soakgate.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "%s%s" .Chart.AppVersion (ternary "-engine" "" .Values.clickhouse.embedded.enabled)) }}
{{- end }}
{{- end }}

{{/* What every container of ours has. */}}
{{- define "soakgate.container" -}}
image: {{ include "soakgate.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{- toYaml .Values.securityContext | nindent 2 }}
{{- end }}

{{/* What every pod of ours has. */}}
{{- define "soakgate.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with concat (.Values.global.imagePullSecrets | default list) .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The environment that names the store. */}}
{{- define "soakgate.storeEnv" -}}
- name: SOAKGATE_DSN
  valueFrom:
    secretKeyRef:
      name: {{ .Values.clickhouse.existingSecret | default (printf "%s-clickhouse" (include "soakgate.fullname" .)) | quote }}
      key: {{ ternary .Values.clickhouse.existingSecretKey "dsn" (ne .Values.clickhouse.existingSecret "") | quote }}
{{- if and .Values.clickhouse.existingSecret .Values.clickhouse.existingSecretPasswordKey }}
- name: SOAKGATE_CLICKHOUSE_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .Values.clickhouse.existingSecret | quote }}
      key: {{ .Values.clickhouse.existingSecretPasswordKey | quote }}
{{- end }}
{{- end }}

{{- define "soakgate.authEnabled" -}}
{{- if or .Values.auth.tokens .Values.auth.existingSecret }}true{{ end }}
{{- end }}

{{/* The migration runs as a Job: not inside the pod that has the only way to the store. */}}
{{- define "soakgate.migrationJob" -}}
{{- if and .Values.migrations.enabled (not .Values.clickhouse.embedded.enabled) }}true{{ end }}
{{- end }}

{{/* Refuses what values.schema.json cannot: it compares no two values. */}}
{{- define "soakgate.refuse" -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (add 15 .Values.preStopSeconds | int) }}
{{- fail "terminationGracePeriodSeconds must be at least 15 more than preStopSeconds: stopping writes what it can to ClickHouse" }}
{{- end }}
{{- with .Values.retention }}
{{- if or (gt (int .payloadDays) (int .recordsDays)) (gt (int .recordsDays) (int .rollupDays)) }}
{{- fail "retention: payloadDays must not be above recordsDays, nor recordsDays above rollupDays" }}
{{- end }}
{{- end }}
{{- with .Values.autoscaling }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
{{- fail "autoscaling.minReplicas must not be above autoscaling.maxReplicas" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Four fifths of the journal's volume, in MiB: the rest is for the file system and for parked batches. */}}
{{- define "soakgate.journalMiB" -}}
{{- div (mul (trimSuffix "Gi" .Values.journal.size | int) 1024 4) 5 }}
{{- end }}
