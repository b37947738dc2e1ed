# The part of the official entry point that we rely on: a new cluster for POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB. The first
# server, without a port, makes the database.
set -eu
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres: /var/lib/postgresql
  exec setpriv --reuid postgres --regid postgres --clear-groups sh "$0" "$@"
fi
user=${POSTGRES_USER:-postgres}
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf '%s\n' "${POSTGRES_PASSWORD:?must be set}" >/tmp/password
  initdb --username "$user" --pwfile /tmp/password --auth-local trust --auth-host scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --wait -o "-c listen_addresses='' -c unix_socket_directories=/var/run/postgresql" start
  [ "${POSTGRES_DB:-$user}" = postgres ] ||
    psql --username "$user" --dbname postgres --command "CREATE DATABASE \"${POSTGRES_DB:-$user}\""
  pg_ctl --wait --mode fast stop
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
