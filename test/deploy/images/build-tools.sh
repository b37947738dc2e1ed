#!/bin/sh
# Builds Docker Compose and SeaweedFS from their Go modules into test/deploy/tools/bin, for test/deploy/composed.test.ts: some seven
# minutes of CPU. Needs Go 1.26. `go install` refuses their `exclude` and `replace`, so each is built inside a module of our own.
set -eu
mkdir -p "$(dirname "$0")/../tools/bin"
bin=$(cd "$(dirname "$0")/../tools/bin" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
export GOPATH="$work/go" GOCACHE="$work/cache"

# build PROGRAM PACKAGE VERSION
build() {
  [ ! -x "$bin/$1" ] || return 0
  rm -f go.mod go.sum
  go mod init tools
  go get "$2@$3"
  CGO_ENABLED=0 go build -o "$bin/$1" "$2"
}
build docker-compose github.com/docker/compose/v5/cmd v5.6.0
build weed github.com/seaweedfs/seaweedfs/weed v0.0.0-20261109003541-7506e5f91cd6
