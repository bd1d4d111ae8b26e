#!/usr/bin/env bash
# Runs every check of the code that does not run it, then names those that failed.
# Nothing in the work tree is changed.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t modules < <(scripts/modules.sh)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=()

# check <name> <what to do about it> <command>...: the command is run as a condition, where set -e has no effect: it
# has to return its status by itself.
check() {
  local name=$1 remedy=$2
  shift 2
  printf '== %s\n' "$name"
  "$@" || failed+=("$name: $remedy")
}

generated() { scripts/buf.sh generate -o "$tmp" && diff -r proto/gen "$tmp/gen"; }

formatted() {
  local files
  files=$(gofmt -l "${modules[@]}")
  [ -z "$files" ] || { echo "$files"; return 1; }
}

tidy() {
  local m bad=0
  for m in "${modules[@]}"; do
    (cd "$m" && GOWORK=off go mod tidy -diff) || { echo "$m/go.mod is not tidy" >&2; bad=1; }
  done
  return "$bad"
}

# The base is the commit where this branch left main; on main itself, the commit before.
unbroken() {
  local main base
  main=$(git rev-parse -q --verify origin/main || git rev-parse -q --verify main || git rev-parse HEAD)
  base=$(git merge-base HEAD "$main")
  [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse -q --verify HEAD^ || echo "$base")
  git archive "$base" proto | tar -x -C "$tmp" && scripts/buf.sh -C "$tmp/proto" build -o "$tmp/base.binpb" &&
    scripts/buf.sh build -o "$tmp/now.binpb" && scripts/buf.sh breaking "$tmp/now.binpb" --against "$tmp/base.binpb"
}

scripts_clean() {
  if command -v shellcheck >/dev/null; then
    git ls-files -z '*.sh' .ci/run | xargs -0 shellcheck -S warning -x -P SCRIPTDIR
  else
    echo 'shellcheck is not installed: left out'
  fi
}

citations() {
  git ls-files -z --cached --others --exclude-standard | GOWORK=off go -C scripts/tools run ./citations "$PWD"
}

plain_names() {
  git ls-files -z --cached --others --exclude-standard | GOWORK=off go -C scripts/tools run ./identifiers "$PWD"
}

tools_work() { (cd scripts/tools && GOWORK=off go vet ./... && GOWORK=off go test ./...); }

check 'proto/gen is what the protos generate' 'run make generate' generated
check 'the protos follow the style' 'see buf lint above' scripts/buf.sh lint
check 'the protos keep what main promises' 'keep the old field, or version the package' unbroken
check 'Go files are formatted' 'run make fmt' formatted
check 'go.mod files are tidy' 'run make tidy' tidy
check 'the Go code passes golangci-lint' 'see above' make lint
check 'the scripts pass shellcheck' 'see above' scripts_clean
check 'the tests of the threat model exist' 'see above' scripts/threats.sh
check 'every page and section that is cited exists' 'see above' citations
check 'identifiers have the words of the field' 'rename them, see above' plain_names
check 'the project'"'"'s own tools work' 'see above' tools_work

[ ${#failed[@]} -eq 0 ] && echo 'all verified' && exit
printf 'FAILED  %s\n' "${failed[@]}" >&2
exit 1
