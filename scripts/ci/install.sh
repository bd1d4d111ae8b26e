#!/usr/bin/env bash
# Installs the named Debian packages, those that are missing. Servers among them are not started: tests start their own.
set -euo pipefail
missing=()
for p; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) == installed ]] || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d # what packages ask before they start a service
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get -qq update
apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "${missing[@]}" >/dev/null
