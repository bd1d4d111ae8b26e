{{- /*
The Deployment of one program, of a dict:
  root       the chart
  component  its name, which is that of its program and image
  values     what values.yaml says of it
  fixed      how many pods there are; nil where something else decides
  ports      name: number, "admin" among them
  env        variables of its own, as YAML
  stop       seconds it takes to stop at most
  pace       seconds that a rollout leaves a new pod before it goes on; optional
  files      the volume with users' files; optional
  temporary  whether it writes temporary files; optional
*/ -}}
{{- define "hecaton.deployment" -}}
{{- $v := .values -}}
{{- $tls := include "hecaton.tlsSecrets" . | fromYaml -}}
{{- $from := index .root.Values.secrets.natsCreds (include "hecaton.key" .) -}}
{{- $creds := and (not .root.Values.nats.enabled) $from.key -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "hecaton.name" . }}
  labels:
    {{- include "hecaton.labels" . | nindent 4 }}
spec:
  {{- if not (kindIs "invalid" .fixed) }}
  replicas: {{ .fixed }}
  {{- end }}
  strategy:
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  {{- with .pace }}
  minReadySeconds: {{ . }} # a rollout does not wait for pods that leave: with this, the one before is drained by then
  {{- end }}
  selector:
    matchLabels:
      {{- include "hecaton.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "hecaton.labels" . | nindent 8 }}
      annotations:
        prometheus.io/scrape: "true"
        prometheus.io/port: {{ .ports.admin | quote }}
        prometheus.io/path: /metrics
        {{- with $v.config }}
        checksum/config: {{ toYaml . | sha256sum }}
        {{- end }}
        {{- with $v.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "hecaton.podBasics" .root | nindent 6 }}
      terminationGracePeriodSeconds: {{ .stop }}
      securityContext:
        {{- include "hecaton.podSecurity" 65532 | nindent 8 }}
      topologySpreadConstraints:
        {{- include "hecaton.spread" (merge (dict "revision" true) .) | trim | nindent 8 }}
      tolerations:
        {{- include "hecaton.tolerations" .root | trim | nindent 8 }}
      {{- with $v.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $v.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $v.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "hecaton.image" (dict "root" .root "program" .component) | quote }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          {{- if $v.config }}
          args: [--config, /etc/hecaton/config/config.yaml]
          {{- end }}
          env:
            {{- include "hecaton.env" .root | nindent 12 }}
            {{- with include "hecaton.serviceTLSEnv" . | trim }}
            {{- . | nindent 12 }}
            {{- end }}
            {{- include "hecaton.natsEnv" . | trim | nindent 12 }}
            {{- with include "hecaton.tlsEnv" (dict "root" .root "server" "nats") | trim }}
            {{- . | nindent 12 }}
            {{- end }}
            {{- .env | trim | nindent 12 }}
            {{- with $v.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            {{- range $name, $port := .ports }}
            - {name: {{ $name }}, containerPort: {{ $port }}}
            {{- end }}
          # Alive says nothing of its neighbours: starting again would not bring them back. The readiness that does, takes up to
          # 0.9 s to answer.
          startupProbe:
            httpGet: {path: /livez, port: admin}
            periodSeconds: 1
            failureThreshold: 60
          # A gateway that hangs keeps the sockets of its clients, of which some wait a minute: it is killed within ten seconds or
          # little more, and without a time to drain, which it would not do.
          livenessProbe:
            httpGet: {path: /livez, port: admin}
            {{- if eq .component "gateway" }}
            periodSeconds: 3
            timeoutSeconds: 3
            failureThreshold: 3
            terminationGracePeriodSeconds: 1
            {{- else }}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
            {{- end }}
          readinessProbe:
            httpGet: {path: /readyz, port: admin}
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 2
          resources:
            {{- toYaml $v.resources | nindent 12 }}
          securityContext:
            {{- include "hecaton.containerSecurity" . | nindent 12 }}
          {{- if or $v.config $tls $creds .files .temporary }}
          volumeMounts:
            {{- if $v.config }}
            - {name: config, mountPath: /etc/hecaton/config, readOnly: true}
            {{- end }}
            {{- range $name, $_ := $tls }}
            - {name: {{ $name }}, mountPath: /etc/hecaton/{{ $name }}, readOnly: true}
            {{- end }}
            {{- if $creds }}
            - {name: nats, mountPath: /etc/hecaton/nats, readOnly: true}
            {{- end }}
            {{- if .files }}
            - {name: files, mountPath: /var/lib/hecaton/files}
            {{- end }}
            {{- if .temporary }}
            - {name: temporary, mountPath: /tmp}
            {{- end }}
          {{- end }}
      {{- if or $v.config $tls $creds .files .temporary }}
      volumes:
        {{- if $v.config }}
        - name: config
          configMap: {name: {{ include "hecaton.name" . }}}
        {{- end }}
        {{- range $name, $secret := $tls }}
        - name: {{ $name }}
          secret: {secretName: {{ $secret }}, defaultMode: 0440}
        {{- end }}
        {{- if $creds }}
        - name: nats
          secret:
            secretName: {{ default .root.Values.secrets.name $from.name }}
            defaultMode: 0440
            items: [{key: {{ $from.key }}, path: creds}]
        {{- end }}
        {{- with .files }}
        - name: files
          {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- if .temporary }}
        - name: temporary
          emptyDir: {sizeLimit: 1Gi}
        {{- end }}
      {{- end }}
{{- end -}}

{{- /* A Deployment's configuration file. */ -}}
{{- define "hecaton.config" -}}
{{- if .values.config }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "hecaton.name" . }}
  labels:
    {{- include "hecaton.labels" . | nindent 4 }}
data:
  config.yaml: |
    {{- toYaml .values.config | nindent 4 }}
{{- end }}
{{- end -}}

{{- /* A Service without an address of its own: its name leads to every pod, so that callers spread their calls themselves. */ -}}
{{- define "hecaton.headless" -}}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "hecaton.name" . }}{{ .suffix }}
  labels:
    {{- include "hecaton.labels" . | nindent 4 }}
spec:
  clusterIP: None
  selector:
    {{- include "hecaton.selector" . | nindent 4 }}
  ports:
    {{- range $name, $port := omit .ports "http" }}
    - {name: {{ $name }}, port: {{ $port }}, targetPort: {{ $name }}}
    {{- end }}
{{- end -}}

{{- define "hecaton.disruption" -}}
{{- if .root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "hecaton.name" . }}
  labels:
    {{- include "hecaton.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow # a pod that is not ready serves nobody: it does not hold up a node's drain
  selector:
    matchLabels:
      {{- include "hecaton.selector" . | nindent 6 }}
{{- end }}
{{- end -}}
