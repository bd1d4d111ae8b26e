#!/usr/bin/env bash
# Prints the directory of every Go module here, the workspace's first, then the tools', one a line. The tools stay outside
# the workspace so that the versions they need do not change ours.
set -euo pipefail
cd "$(dirname "$0")/.."
sed -n 's|^\t\./||p' go.work
# kube is left out: it is for experiments, and checking it would take longer than all the others together.
git ls-files 'scripts/tools/*go.mod' | xargs -n1 dirname
