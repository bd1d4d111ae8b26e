{{- /* TLS towards others: Secrets with ca.crt, and with tls.crt and tls.key where the service shows a certificate. */ -}}

{{- /* The Secret with a service's certificate: of (dict "root" . "component" "gateway") */ -}}
{{- define "hecaton.serviceCert" -}}
{{- if .root.Values.tls.certManager.enabled -}}
{{ include "hecaton.name" . }}-tls
{{- else -}}
{{ .root.Values.serviceTLS.secretName }}
{{- end -}}
{{- end -}}

{{- define "hecaton.serviceTLSEnv" -}}
{{- if include "hecaton.serviceCert" . }}
- {name: SERVICE_TLS_CERT, value: /etc/hecaton/tls/tls.crt}
- {name: SERVICE_TLS_KEY, value: /etc/hecaton/tls/tls.key}
- {name: SERVICE_TLS_CA, value: /etc/hecaton/tls/ca.crt}
{{- with include "hecaton.commonName" .root }}
- {name: SERVICE_TLS_SERVER_NAME, value: {{ quote . }}}
{{- end }}
{{- end }}
{{- end -}}

{{- /* The name in every service's certificate: gateways find each other by address, for which there is no certificate. */ -}}
{{- define "hecaton.commonName" -}}
{{- if .Values.tls.certManager.enabled -}}
{{- default (printf "%s.%s" (include "hecaton.fullname" .) .Release.Namespace) .Values.serviceTLS.serverName -}}
{{- else -}}
{{- .Values.serviceTLS.serverName -}}
{{- end -}}
{{- end -}}

{{- /* of (dict "root" . "server" "nats"): NATS and Redis */ -}}
{{- define "hecaton.tlsEnv" -}}
{{- $tls := index .root.Values.tls .server -}}
{{- $name := upper .server -}}
{{- if and (eq .server "nats") .root.Values.nats.enabled .root.Values.tls.certManager.enabled }}
- {name: NATS_TLS_CA, value: /etc/hecaton/tls/ca.crt}
- {name: NATS_TLS_CERT, value: /etc/hecaton/tls/tls.crt}
- {name: NATS_TLS_KEY, value: /etc/hecaton/tls/tls.key}
{{- else if $tls.secretName }}
- {name: {{ $name }}_TLS_CA, value: /etc/hecaton/tls-{{ .server }}/ca.crt}
{{- if $tls.clientCertificate }}
- {name: {{ $name }}_TLS_CERT, value: /etc/hecaton/tls-{{ .server }}/tls.crt}
- {name: {{ $name }}_TLS_KEY, value: /etc/hecaton/tls-{{ .server }}/tls.key}
{{- end }}
{{- with $tls.serverName }}
- {name: {{ $name }}_TLS_SERVER_NAME, value: {{ quote . }}}
{{- end }}
{{- end }}
{{- end -}}

{{- /* What libpq's programs read, too; an sslmode in the URL wins. */ -}}
{{- define "hecaton.postgresqlTLSEnv" -}}
{{- with .Values.tls.postgresql }}
{{- if .secretName }}
- {name: PGSSLMODE, value: verify-full}
- {name: PGSSLROOTCERT, value: /etc/hecaton/tls-postgresql/ca.crt}
{{- if .clientCertificate }}
- {name: PGSSLCERT, value: /etc/hecaton/tls-postgresql/tls.crt}
- {name: PGSSLKEY, value: /etc/hecaton/tls-postgresql/tls.key}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* The Secrets that a service mounts, as YAML of {name: secret}: of (dict "root" . "component" "gateway") */ -}}
{{- define "hecaton.tlsSecrets" -}}
{{- $tls := .root.Values.tls -}}
{{- with include "hecaton.serviceCert" . }}
tls: {{ . }}
{{- end }}
{{- with $tls.nats.secretName }}
tls-nats: {{ . }}
{{- end }}
{{- if or (eq .component "node-registry") (eq .component "agent-orchestrator") }}
{{- with $tls.redis.secretName }}
tls-redis: {{ . }}
{{- end }}
{{- end }}
{{- if or (eq .component "agent-orchestrator") (eq .component "knowledge") }}
{{- with $tls.postgresql.secretName }}
tls-postgresql: {{ . }}
{{- end }}
{{- end }}
{{- end -}}
