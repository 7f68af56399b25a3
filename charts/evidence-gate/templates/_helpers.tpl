{{- define "evidence-gate.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "evidence-gate.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "evidence-gate.labels" -}}
{{ include "evidence-gate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "evidence-gate.image" -}}
{{- $i := .Values.image -}}
{{- if $i.digest -}}
{{ required "image.repository: where is your image?" $i.repository }}@{{ $i.digest }}
{{- else -}}
{{ required "image.repository: where is your image?" $i.repository }}:{{ default .Chart.AppVersion $i.tag }}
{{- end -}}
{{- end -}}

{{/* What is the same for every role: where it may run, as whom, and that it may not ask the cluster anything. */}}
{{- define "evidence-gate.pod" -}}
serviceAccountName: {{ include "evidence-gate.name" .root }}-{{ .role }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if and (eq .root.Values.database.kind "sqlite") (ne .role "receiver") }}
affinity:
  # The database is a file that all roles share: they must be on the node where it is.
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "evidence-gate.selector" (dict "root" .root "role" "receiver") | nindent 12 }}
{{- else }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- include "evidence-gate.selector" . | nindent 14 }}
{{- end }}
{{- end -}}

{{- define "evidence-gate.container" -}}
image: {{ include "evidence-gate.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [{{ .command }}, "--config", "/etc/evidence-gate/evidence-gate.toml"]
env:
  - name: HOME
    value: /tmp
  {{- if eq .root.Values.database.kind "postgres" }}
  - name: EVIDENCE_GATE_DATABASE__URL_FILE
    value: /etc/evidence-gate/database/url
  {{- end }}
{{- end -}}

{{- define "evidence-gate.mounts" -}}
- name: config
  mountPath: /etc/evidence-gate/evidence-gate.toml
  subPath: evidence-gate.toml
  readOnly: true
- name: secrets
  mountPath: /etc/evidence-gate/secrets
  readOnly: true
{{- if eq .root.Values.database.kind "postgres" }}
- name: database
  mountPath: /etc/evidence-gate/database
  readOnly: true
{{- end }}
- name: data
  mountPath: /var/lib/evidence-gate
- name: tmp
  mountPath: /tmp
{{- end -}}

{{- define "evidence-gate.volumes" -}}
- name: config
  configMap:
    name: {{ include "evidence-gate.name" .root }}
- name: secrets
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
{{- if eq .root.Values.database.kind "postgres" }}
- name: database
  secret:
    secretName: {{ .root.Values.database.secret }}
    defaultMode: 0440
    items: [{ key: url, path: url }]
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 1Gi
{{- end -}}

{{/* The volume for all roles in sqlite mode. */}}
{{- define "evidence-gate.claim" -}}
{{- default (printf "%s-data" (include "evidence-gate.name" .)) .Values.persistence.existingClaim -}}
{{- end -}}

{{- define "evidence-gate.strict" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
capabilities:
  drop: [ALL]
{{- end -}}
