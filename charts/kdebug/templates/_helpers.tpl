{{- define "kdebug.selector" -}}
app.kubernetes.io/name: {{ .Values.name }}
{{- end }}

{{- define "kdebug.labels" -}}
{{ include "kdebug.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "kdebug.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* What must not be rendered, each with what to do. */ -}}
{{- define "kdebug.refusals" -}}
{{- if not .Values.policy }}{{ fail "policy is missing: --set-file policy=policy.yaml (manifests/installations/socket/policy.yaml is one to begin with)" }}{{ end -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.redis) }}{{ fail "replicas is more than 1, so redis must be true: without Redis each replica would know only its own runs" }}{{ end -}}
{{- if and (gt (int .Values.replicas) 4) (eq .Values.mode "socket") }}{{ fail "replicas is more than 4: in Socket Mode each needs two of the ten connections that Slack gives an app, and an update starts one more" }}{{ end -}}
{{- if and .Values.impersonate .Values.namespaces }}{{ fail "namespaces is not for impersonate: what `npm run rbac` prints holds the rights in the namespaces (rbac)" }}{{ end -}}
{{- if and .Values.moreFacts (not .Values.namespaces) }}{{ fail "moreFacts binds its rights in namespaces, which is empty; with impersonate `npm run rbac -- … --more-facts` prints them (rbac)" }}{{ end -}}
{{- if and .Values.egress.create (not .Values.egress.apiServers) }}{{ fail "egress.apiServers is missing: kubectl -n default get endpointslices -l kubernetes.io/service-name=kubernetes" }}{{ end -}}
{{- end }}

{{- define "kdebug.fromSecret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: { name: {{ .secret }}, key: {{ .name }}, optional: {{ .optional }} }
{{- end }}

{{- /* The environment of kdebug; strict: what it cannot do without must be in the Secret. */ -}}
{{- define "kdebug.env" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $secret := $values.secretName -}}
{{- $needed := dict "SLACK_BOT_TOKEN" true (ternary "SLACK_APP_TOKEN" "SLACK_SIGNING_SECRET" (eq $values.mode "socket")) true "KDEBUG_KEY" $values.redis "REDIS_URL" $values.redis -}}
{{- if $values.alerts.create }}{{ $_ := set $needed "ALERTS_SECRET" true }}{{ end -}}
{{- range $name, $isNeeded := $needed }}
{{ include "kdebug.fromSecret" (dict "name" $name "secret" $secret "optional" (not (and $.strict $isNeeded))) }}
{{- end }}
{{- $settings := dict "REDIS_CA_FILE" "" "REDIS_KEY_PREFIX" "kdebug" "SLACK_API_URL" "https://slack.com/api/" "PORT" "3000" "OPS_PORT" "9090" "KDEBUG_POLICY" "/etc/kdebug/policy.yaml" "KDEBUG_COMMAND" "/kdebug" "KUBECONFIG" "" "KDEBUG_AUDIT" "stdout" "LOG_LEVEL" "info" -}}
{{- if $values.alerts.create }}{{ $_ := set $settings "ALERTS_PORT" "3001" }}{{ end -}}
{{- range $name, $value := merge (deepCopy $values.env) $settings }}
- name: {{ $name }}
  value: {{ toString $value | quote }}
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kdebug.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "kdebug.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "kdebug.mounts" -}}
# The whole folder, not the file: only then does a changed ConfigMap reach the running pod.
- name: policy
  mountPath: /etc/kdebug
  readOnly: true
- name: scratch
  mountPath: /tmp
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kdebug.volumes" -}}
- name: policy
  configMap:
    name: {{ .root.Values.name }}-policy
- name: scratch
  emptyDir:
    sizeLimit: {{ .scratch }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kdebug.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
