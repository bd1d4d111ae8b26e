{{- /* What a service shows to the bus and to Redis: users of its own, whose passwords are in Secrets. */ -}}

{{- /* The key of values under which a component stands: nodeRegistry of (dict "component" "node-registry") */ -}}
{{- define "hecaton.key" -}}
{{- .component | camelcase | untitle -}}
{{- end -}}

{{- /* of (dict "root" . "component" "gateway") */ -}}
{{- define "hecaton.natsEnv" -}}
{{- $secrets := .root.Values.secrets -}}
{{- $key := include "hecaton.key" . -}}
{{- if .root.Values.nats.enabled }}
{{ include "hecaton.secretEnv" (dict "root" .root "name" "NATS_PASSWORD" "from" (index $secrets.natsPasswords $key)) }}
- {name: NATS_URL, value: {{ include "hecaton.natsServers" (dict "root" .root "user" .component "variable" "NATS_PASSWORD" "port" 4222) | quote }}}
{{- else }}
{{ include "hecaton.secretEnv" (dict "root" .root "name" "NATS_URL" "from" (index $secrets.natsURLs $key)) }}
{{- if (index $secrets.natsCreds $key).key }}
- {name: NATS_CREDS, value: /etc/hecaton/nats/creds}
{{- end }}
{{- end }}
{{- end -}}

{{- /* The servers' URLs: of (dict "root" . "user" "gateway" "variable" "NATS_PASSWORD" "port" 4222) */ -}}
{{- define "hecaton.natsServers" -}}
{{- $at := . -}}
{{- $name := include "hecaton.name" (dict "root" .root "component" "nats") -}}
{{- $urls := list -}}
{{- range until (int .root.Values.nats.replicas) }}
{{- $urls = append $urls (printf "nats://%s:$(%s)@%s-%d.%s:%d" $at.user $at.variable $name . $name (int $at.port)) -}}
{{- end -}}
{{- join "," $urls -}}
{{- end -}}

{{- /* of (dict "root" . "component" "node-registry") */ -}}
{{- define "hecaton.redisEnv" -}}
{{- $secrets := .root.Values.secrets -}}
{{- $key := include "hecaton.key" . -}}
{{- if .root.Values.trial.redis.enabled -}}
{{ include "hecaton.secretEnv" (dict "root" .root "name" "REDIS_PASSWORD" "from" (index $secrets.redisPasswords $key)) }}
- {name: REDIS_URL, value: "redis://{{ .component }}:$(REDIS_PASSWORD)@{{ include "hecaton.name" (dict "root" .root "component" "trial-redis") }}:6379"}
{{- else -}}
{{ include "hecaton.secretEnv" (dict "root" .root "name" "REDIS_URL" "from" (index $secrets.redisURLs $key)) }}
{{- include "hecaton.tlsEnv" (dict "root" .root "server" "redis") }}
{{- end -}}
{{- end -}}

{{- /* Whose passwords a server knows: of (dict "root" . "server" "NATS" "from" .Values.secrets.natsPasswords) */ -}}
{{- define "hecaton.passwordsEnv" -}}
{{- $of := . -}}
{{- range $component := list "gateway" "node-registry" "agent-orchestrator" "knowledge" }}
{{- with index $of.from (include "hecaton.key" (dict "component" $component)) }}
{{ include "hecaton.secretEnv" (dict "root" $of.root "name" (printf "%s_%s_PASSWORD" $of.server ($component | snakecase | upper)) "from" .) }}
{{- end }}
{{- end }}
{{- end -}}
