{{- define "tollgate.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "tollgate.selector" -}}
app.kubernetes.io/name: tollgate
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "tollgate.image" -}}
{{ required "image.repository: no image is published; build one from the Dockerfile, push it to a registry of yours, and name it here" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "tollgate.secret" -}}
{{ required "existingSecret: name a Secret with DATABASE_URL and SECRET_KEY" .Values.existingSecret }}
{{- end }}

{{- define "tollgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "tollgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The environment that gateways, workers and the migration share. */}}
{{- define "tollgate.env" -}}
- { name: DATA_DIR, value: /data }
- { name: DURABILITY, value: {{ ternary "journal" "postgres" (eq .Values.journal.disk "kept") }} }
{{- with .Values.s3.bucket }}
- { name: S3_BUCKET, value: {{ . | quote }} }
- { name: S3_REGION, value: {{ $.Values.s3.region | quote }} }
{{- end }}
{{- with .Values.s3.endpoint }}
- { name: S3_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- if .Values.gatewayYaml }}
- { name: GATEWAY_CONFIG, value: /etc/tollgate/gateway.yaml }
{{- end }}
{{- range $name, $value := .Values.env }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "tollgate.envFrom" -}}
- secretRef: { name: {{ include "tollgate.secret" . }} }
{{- end }}

{{- define "tollgate.configVolume" -}}
{{- if .Values.gatewayYaml }}
- name: gateway-yaml
  configMap: { name: {{ include "tollgate.name" . }} }
{{- end }}
{{- end }}

{{- define "tollgate.configMount" -}}
{{- if .Values.gatewayYaml }}
- { name: gateway-yaml, mountPath: /etc/tollgate, readOnly: true }
{{- end }}
{{- end }}
