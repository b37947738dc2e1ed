#!/bin/sh
# Makes .env for docker-compose.yml: .env.example, with random secrets. Never changes a .env that is there. It is a shell script, because
# without .env nothing of docker-compose.yml runs yet, and needs no more than a shell.
set -eu
cd "$(dirname "$0")/../.."

if [ -e .env ] || [ -L .env ]; then
  echo '.env is there already, and was not changed. The data of earlier starts needs its secrets: keep it.' >&2
  if empty=$(grep -E '^(SECRET_KEY|POSTGRES_PASSWORD|REDIS_PASSWORD|S3_SECRET_ACCESS_KEY)=[[:space:]]*$' .env); then
    printf 'Set these in it, each with 64 random digits or letters:\n%s\n' "$empty" >&2
  fi
  echo 'If nothing was started with it, delete it, and run this again. Otherwise go on with: docker compose up --build --wait' >&2
  exit 1
fi

umask 077
made=.env.$$
trap 'rm -f "$made"' EXIT
trap 'exit 1' HUP INT TERM
while IFS= read -r line; do
  case $line in
    SECRET_KEY= | POSTGRES_PASSWORD= | REDIS_PASSWORD= | S3_SECRET_ACCESS_KEY=)
      secret=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
      [ ${#secret} = 64 ] || { echo '/dev/urandom has no random bytes; .env was not made' >&2; exit 1; }
      line=$line$secret
      ;;
  esac
  printf '%s\n' "$line"
done <.env.example >"$made"
# Unlike mv, it fails if somebody else has made .env meanwhile.
ln "$made" .env

cat <<'END'
.env is made, with random secrets. Keep a copy elsewhere: without its SECRET_KEY, nobody can read the credentials in the database.
Clients call https://localhost. For another name, set DOMAIN in .env first.

Next:
  docker compose up --build --wait     builds the image, which takes minutes, and starts everything
  sh deploy/compose/greeting.sh        shows the base URL, the first key, a first call, and the link that makes the first owner
END
