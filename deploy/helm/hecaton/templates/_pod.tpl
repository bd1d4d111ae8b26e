{{- /* What the pods of every kind have in common. */ -}}

{{- define "hecaton.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "hecaton.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- /* Variables for their neighbours would read as configuration of ours (HECATON_…), hence enableServiceLinks: false. */ -}}
{{- define "hecaton.podBasics" -}}
serviceAccountName: {{ include "hecaton.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- /* of (dict "root" . "component" "gateway") */ -}}
{{- define "hecaton.spread" -}}
{{- $spread := .root.Values.topologySpread -}}
{{- $of := . -}}
{{- range $key, $when := dict "topology.kubernetes.io/zone" $spread.zones "kubernetes.io/hostname" $spread.hosts }}
{{- if $when }}
- topologyKey: {{ $key }}
  maxSkew: 1
  whenUnsatisfiable: {{ $when }}
  labelSelector:
    matchLabels:
      {{- include "hecaton.selector" $of | nindent 6 }}
  {{- if $of.revision }}
  matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "hecaton.tolerations" -}}
{{- range list "not-ready" "unreachable" }}
- {key: node.kubernetes.io/{{ . }}, operator: Exists, effect: NoExecute, tolerationSeconds: {{ $.Values.unreachableSeconds }}}
{{- end }}
{{- with .Values.tolerations }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* One variable from a Secret: of (dict "root" . "name" "JWT_SECRET" "from" .Values.secrets.jwtSecret) */ -}}
{{- define "hecaton.secretEnv" -}}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ default .root.Values.secrets.name .from.name }}, key: {{ .from.key }}{{ if .optional }}, optional: true{{ end }}}}
{{- end -}}

{{- /* What all three programs are told. */ -}}
{{- define "hecaton.env" -}}
{{- $secrets := .Values.secrets -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- {name: LOG_LEVEL, value: {{ .Values.log.level }}}
{{- with .Values.tracing.endpoint }}
- {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ quote . }}}
- {name: TRACE_RATIO, value: {{ quote $.Values.tracing.ratio }}}
{{- end }}
{{ include "hecaton.secretEnv" (dict "root" . "name" "SERVICE_TOKEN" "from" $secrets.serviceToken) }}
{{- if $secrets.adminToken.key }}
{{ include "hecaton.secretEnv" (dict "root" . "name" "ADMIN_TOKEN" "from" $secrets.adminToken) }}
{{- end }}
{{- with .Values.admin.hosts }}
- {name: ADMIN_HOSTS, value: {{ join "," . | quote }}}
{{- end }}
{{- end -}}
