# shellcheck shell=bash
# Sourced by its neighbours: packages of Debian 13 ("trixie") for a Debian 12 machine, without touching its package state.

ci_cache=${HECATON_CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hecaton-ci}

# trixie_download <dir> <package>...: puts exactly the named packages into dir, from the mirror that this machine uses
# itself, checked against Debian's signed index.
trixie_download() {
  local dir=$1 apt=$ci_cache/apt key=/usr/share/keyrings/debian-archive-keyring.gpg mirror
  shift
  # Read everything before cutting: a closed pipe would fail the command under pipefail.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | sed -n 's#/debian/\{0,1\}$##p' | sed -n 1p)
  mkdir -p "$dir" "$apt"/lists/partial "$apt"/archives/partial
  : >"$apt/status"
  cat >"$apt/sources.list" <<EOF
deb [signed-by=$key] $mirror/debian trixie main
deb [signed-by=$key] $mirror/debian trixie-updates main
deb [signed-by=$key] $mirror/debian-security trixie-security main
EOF
  cat >"$apt/apt.conf" <<EOF
Dir::Etc::SourceList "$apt/sources.list"; Dir::Etc::SourceParts "/dev/null"; Dir::Etc::Parts "/dev/null";
Dir::State "$apt"; Dir::State::status "$apt/status"; Dir::Cache "$apt"; Dir::Cache::Archives "$apt/archives";
Acquire::Languages "none"; Acquire::Retries "3"; APT::Sandbox::User "root";
EOF
  (
    export APT_CONFIG=$apt/apt.conf
    apt-get -qq update
    cd "$dir" || exit
    rm -f ./*.deb # an earlier run's, perhaps older
    apt-get -qq download "$@" >/dev/null
  )
}
