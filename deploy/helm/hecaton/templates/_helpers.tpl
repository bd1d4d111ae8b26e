{{- /* Names and labels. Those of a selector never change: a Deployment keeps its first ones for ever. */ -}}

{{- define "hecaton.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* of (dict "root" . "component" "gateway") */ -}}
{{- define "hecaton.name" -}}
{{- printf "%s-%s" (include "hecaton.fullname" .root) .component -}}
{{- end -}}

{{- define "hecaton.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "hecaton.labels" -}}
{{ include "hecaton.selector" . }}
app.kubernetes.io/version: {{ include "hecaton.tag" .root | trunc 63 | quote }}
{{- end -}}

{{- define "hecaton.tag" -}}
{{- default .Chart.AppVersion .Values.image.tag -}}
{{- end -}}

{{- /* of (dict "root" . "program" "gateway") */ -}}
{{- define "hecaton.image" -}}
{{- with .root.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end }}hecaton/{{ .program }}:{{ include "hecaton.tag" .root }}
{{- end -}}

{{- define "hecaton.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "hecaton.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}
