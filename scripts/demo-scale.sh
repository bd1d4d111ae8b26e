#!/usr/bin/env bash
# Shows "docker compose up --scale gateway=5" take load: a cluster of its own with two gateways, nodes that come and go and
# callers ("hecaton bench"), then five gateways, then two again, with a line each second that says how many connections
# every gateway holds and how many calls enter it. At the end the ledgers of callers and nodes are compared.
# NODES, CHURN (nodes a second that leave and come back), RATE (calls a second) and HOLD (seconds with each number of
# gateways) can be set. Needs a Docker engine, and nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
PROJECT=hecaton-demo
. scripts/ci/cluster.sh
NODES=${NODES:-500} CHURN=${CHURN:-25} RATE=${RATE:-100} HOLD=${HOLD:-20}
watch='' load=''

before_down() {
  stop_watching
  [ -z "$load" ] || { kill -INT "$load" && wait "$load"; } 2>/dev/null || :
}

# Prints a line for each gateway: its name, the connections it holds, the calls that it has taken. nginx's container asks
# them, since their network cannot be reached from every machine; as localhost, since admin ports serve no names but those.
figures() {
  local pods
  mapfile -t pods < <(docker compose ps --format '{{.Name}}' gateway | sort -V)
  # shellcheck disable=SC2016 # expanded inside
  docker compose exec -T lb sh -c 'for g; do echo "pod $g"; wget -q -T 1 -O - --header "Host: localhost" "http://$g:9180/metrics" || :; done' sh "${pods[@]}" |
    awk '/^pod /{ pods[++n] = $2; next }
      /^hecaton_gateway_connections_open /{ open[n] = $2 }
      /^hecaton_gateway_calls_total[{ ]/{ calls[n] += $NF }
      END { for (i = 1; i <= n; i++) if (i in open) print pods[i], open[i], calls[i] + 0 }'
}

# Prints a row of the table each second, as long as there is the file watching.
watch() {
  while [ -e "$work/watching" ]; do
    echo "at $(date +%s.%N)"
    figures 2>/dev/null || :
    echo end
    sleep .7
  done | awk -v first="$(date +%s)" '
    /^at /{ before = now; now = $2; n = 0; head = ""; next }
    /^end/{
      if (head != shown) { printf "\n%8s%s\n", "", head; shown = head }
      row = ""
      for (i = 1; i <= n; i++) {
        rate = name[i] in last ? (calls[i] - last[name[i]]) / (now - before) : 0
        row = row sprintf("%7d %7.0f/s", open[i], rate)
      }
      printf "%6d s%s\n", now - first, row
      fflush()
      delete last
      for (i = 1; i <= n; i++) last[name[i]] = calls[i]
      next
    }
    {
      name[++n] = $1; open[n] = $2; calls[n] = $3
      sub(/.*-gateway-/, "gateway ", $1)
      head = head sprintf("%17s", $1)
    }'
}

stop_watching() {
  rm -f "$work/watching"
  [ -z "$watch" ] || wait "$watch" || :
  watch=''
}

images
up
url=http://$(docker compose port lb 8080)
say "two gateways behind $url; connections and calls a second of each:"
go build -o bin/hecaton ./services/hecaton/cmd/hecaton
set -a
. deploy/compose/dev/cli.env
set +a
bin/hecaton bench --server "$url" --nodes "$NODES" --churn "$CHURN" --callers 50 --rate "$RATE" --duration 24h --seed 1 \
  >"$work/report.txt" 2>"$work/load.log" &
load=$!
touch "$work/watching"
watch &
watch=$!
sleep "$HOLD"
say 'docker compose up --scale gateway=5'
up --no-recreate --scale gateway=5
sleep "$HOLD"
say 'docker compose up --scale gateway=2: three of them drain'
up --no-recreate --scale gateway=2
sleep "$((HOLD / 2))"
stop_watching
say 'the load ends'
kill -INT "$load"
wait "$load" && code=0 || code=$?
load=''
sed '/^Latency over time/,$d' "$work/report.txt"
[ "$code" -eq 0 ] || { cat "$work/load.log" >&2; fail 'the ledger does not reconcile'; }
