#!/bin/sh
# A Docker engine of our own, for the tests in containers, beside any other that the machine has. As root:
#   engine.sh start FOLDER    when this returns, it answers at unix://FOLDER/docker.sock, and its images are in FOLDER/data
#   engine.sh end FOLDER      ends it with all its containers, networks and volumes; the images stay for the next start
# It makes no bridge and no rule of iptables, so containers reach each other and this machine, but no other network.
set -eu
mkdir -p "$2"
folder=$(cd "$2" && pwd)
export DOCKER_HOST="unix://$folder/docker.sock"

answers() { docker version >"$folder/answer" 2>&1; }

start() {
  # sshd and sudo may have left /usr/sbin out.
  PATH="$PATH:/usr/sbin:/sbin" setsid dockerd --data-root "$folder/data" --exec-root "$folder/exec" --host "$DOCKER_HOST" \
    --pidfile "$folder/pid" --cgroup-parent "/tollgate-$$" --bridge none --iptables=false --ip6tables=false --ip-forward=false \
    --ip-masq=false --log-level warn </dev/null >"$folder/log" 2>&1 &
  for _ in $(seq 300); do
    if answers; then
      # The tests may be another user's.
      chown "${SUDO_UID:-0}" "$folder/docker.sock"
      return
    fi
    kill -0 $! 2>/dev/null || break
    sleep 0.2
  done
  cat "$folder/log" "$folder/answer" >&2
  exit 1
}

end() {
  pid=$(cat "$folder/pid")
  cgroup=$(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n '/^--cgroup-parent$/{n;p}')
  docker ps --all --quiet | xargs --no-run-if-empty docker rm --force --volumes >/dev/null
  docker network prune --force >/dev/null
  docker volume ls --quiet | xargs --no-run-if-empty docker volume rm >/dev/null
  kill "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  # It leaves the mount of its own network, and groups of processes.
  cut -d ' ' -f 2 /proc/mounts | { grep "^$folder/" || true; } | xargs --no-run-if-empty umount
  find /sys/fs/cgroup -depth -type d -path "/sys/fs/cgroup*$cgroup*" -exec rmdir {} + 2>/dev/null || true
  rm -rf "$folder/exec" "$folder/docker.sock" "$folder/answer" "$folder/log"
}

"$1"
