#!/bin/sh
# Shows what gateway-1 said when it was started last: the base URL, a first call with the first key, and the console's link.
set -eu
cd "$(dirname "$0")/../.."

logs() { docker compose logs --no-color --no-log-prefix "$@"; }

# Whichever process was the first made the key, and said it only once.
key=$(logs gateway-1 gateway-2 worker-1 worker-2 | sed -n '/^new key /{p;q;}')
greeting=$(logs gateway-1 | KEY=$key awk '
  /^Tollgate is running/ { text = ""; begun = 1 }
  # The log has the other lines, each an object.
  !begun || /^(\{|new key )/ { next }
  { text = text $0 "\n" }
  /^base URL: / && ENVIRON["KEY"] != "" { text = text ENVIRON["KEY"] "\n" }
  END { if (split(ENVIRON["KEY"], words, " ") >= 6) gsub(/YOUR_KEY/, words[6], text); printf "%s", text }')
if [ -z "$greeting" ]; then
  echo 'gateway-1 does not serve yet. See: docker compose ps, docker compose logs gateway-1' >&2
  exit 1
fi

case $greeting in
  *'base URL: https://localhost'*)
    authority=$(docker compose exec -T caddy cat /data/caddy/pki/authorities/local/root.crt) || {
      echo 'Caddy has no certificate yet. Run this again, or see: docker compose logs caddy' >&2
      exit 1
    }
    printf '%s\n' "$authority" >caddy.crt
    printf '%s\n' "$greeting" | sed 's/^curl /&--cacert caddy.crt /'
    printf '\n%s\n' 'The certificate of localhost is signed by caddy.crt, which SDKs take from NODE_EXTRA_CA_CERTS or SSL_CERT_FILE. A browser warns once.'
    ;;
  *) printf '%s\n' "$greeting" ;;
esac
[ -n "$key" ] || printf '\n%s\n' 'The first key is no longer in the logs. Make another one in the console.'
