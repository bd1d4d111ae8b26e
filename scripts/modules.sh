#!/usr/bin/env bash
# Prints the directory of every Go module here, the workspace's first, then the tools', one a line. The tools stay outside
# the workspace so that the versions they need do not bend ours.
set -euo pipefail
cd "$(dirname "$0")/.."
sed -n 's|^\t\./||p' go.work
# kube is a program to try things with, whose checks would take longer than all others together.
git ls-files 'scripts/tools/*go.mod' | xargs -n1 dirname
