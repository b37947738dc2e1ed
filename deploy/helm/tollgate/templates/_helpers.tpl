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

{{/* The environment that gateways and workers share. */}}
{{- define "tollgate.env" -}}
- { name: DATA_DIR, value: /data }
- { name: DURABILITY, value: {{ ternary "journal" "postgres" (eq .Values.journal.disk "kept") }} }
{{- if and (not .Values.s3.bucket) (not .Values.s3.unused) }}
{{- fail "s3.bucket: gateways and workers must see the same images and files, which needs a bucket; s3.unused=true: this installation has neither" }}
{{- end }}
{{- with .Values.s3.bucket }}
- { name: S3_BUCKET, value: {{ . | quote }} }
- { name: S3_REGION, value: {{ $.Values.s3.region | quote }} }
{{- else }}
- { name: FILE_DAYS, value: "0" }
{{- end }}
{{- with .Values.s3.endpoint }}
- { name: S3_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- if .Values.gatewayYaml }}
- { name: GATEWAY_CONFIG, value: /etc/tollgate/gateway.yaml }
{{- end }}
{{- include "tollgate.furtherEnv" . }}
{{- end }}

{{/* What values.yaml has in env. A number of a values file is a float to Helm, whose quote writes 67108864 as 6.7108864e+07. */}}
{{- define "tollgate.furtherEnv" -}}
{{- $taken := list "ROLE" "HOST" "PORT" "METRICS_HOST" "METRICS_PORT" "SHUTDOWN_DELAY_MS" "DRAIN_ON_SHUTDOWN_MS" "TLS_CERT" "TLS_KEY" "TRUSTED_PROXIES" "PLAIN_HTTP" "DATA_DIR" "DURABILITY" "S3_BUCKET" "S3_REGION" "S3_ENDPOINT" }}
{{- if .Values.gatewayYaml }}{{ $taken = append $taken "GATEWAY_CONFIG" }}{{ end }}
{{- if not .Values.s3.bucket }}{{ $taken = append $taken "FILE_DAYS" }}{{ end }}
{{- $archived := or .Values.s3.bucket .Values.env.ARCHIVE_S3_BUCKET .Values.env.ARCHIVE_DIR }}
{{- if and (int .Values.env.HOT_DAYS) (not $archived) }}
{{- fail "env.HOT_DAYS: the archive needs s3.bucket, ARCHIVE_S3_BUCKET, or ARCHIVE_DIR on a volume that all pods share: a worker's own disk goes with its pod" }}
{{- end }}
{{- range $name, $value := .Values.env }}
{{- if has $name $taken }}{{ fail (printf "env.%s: the chart sets it itself, by another value" $name) }}{{ end }}
- { name: {{ $name }}, value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }} }
{{- end }}
{{- end }}

{{- define "tollgate.envFrom" -}}
- secretRef: { name: {{ include "tollgate.secret" . }} }
{{- end }}

{{/* gateway.yaml, and the files that it names. */}}
{{- define "tollgate.configVolume" -}}
{{- if .Values.gatewayYaml }}
- name: gateway-yaml
  configMap: { name: {{ include "tollgate.name" . }} }
{{- end }}
{{- include "tollgate.furtherVolumes" . }}
{{- end }}

{{- define "tollgate.furtherVolumes" -}}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "tollgate.furtherMounts" -}}
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "tollgate.configMount" -}}
{{- if .Values.gatewayYaml }}
- { name: gateway-yaml, mountPath: /etc/tollgate, readOnly: true }
{{- end }}
{{- include "tollgate.furtherMounts" . }}
{{- end }}
