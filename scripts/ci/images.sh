#!/usr/bin/env bash
# Builds the images that the integration tests start, without a registry:
#   redis     from Debian 13's packages
#   postgres  the same, with an empty cluster that lets everybody in, whatever POSTGRES_* say
#   nats      from the Go module that pkg/go.mod pins, static, on nothing
# They are tagged $HUB/<official name>, so no official name is ever shadowed; TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX=$HUB makes
# testcontainers use them. An image whose inputs have not changed is left alone. Needs docker, go, apt-get and dpkg-deb.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/trixie.sh"
HUB=${HUB:-ci.local}
pkg=$here/../../pkg
work=$ci_cache/images

hash_of() { cat "$@" "$here/images.sh" | sha256sum | cut -c1-16; }

current() { # current <tag> <hash>
  [ "$(docker image inspect -f '{{index .Config.Labels "ci.hash"}}' "$1" 2>/dev/null)" = "$2" ]
}

import() { # import <tag> <hash> <root directory> <Dockerfile instruction>...
  local tag=$1 hash=$2 root=$3 changes=()
  shift 3
  for c; do changes+=(--change "$c"); done
  tar -C "$root" --sort=name --numeric-owner --owner=0 --group=0 -c . |
    docker import "${changes[@]}" --change "LABEL ci.hash=$hash" - "$tag" >/dev/null
  echo "built $tag"
}

unpack() { # unpack <root directory> <package>...
  local root=$1 d
  shift
  trixie_download "$work/debs" libc6 libgcc-s1 libstdc++6 libsystemd0 libcap2 libssl3t64 openssl-provider-legacy zlib1g \
    libzstd1 "$@"
  rm -rf "$root"
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{etc,tmp,data}
  chmod 1777 "$root/tmp" "$root/data"
  for d in bin sbin lib lib64; do ln -s "usr/$d" "$root/$d"; done
  for d in "$work"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$d" | tar -x -C "$root" --keep-directory-symlink --exclude='./usr/share/[!pz]*' \
      --exclude='*/systemd' --exclude='*/bitcode' --exclude='*/llvmjit*'
  done
}

build_redis() { # build_redis <tag>
  local root=$work/redis hash
  hash=$(hash_of)
  current "$1" "$hash" && return
  unpack "$root" redis-server redis-tools libjemalloc2 liblzf1 libatomic1
  import "$1" "$hash" "$root" 'USER 999:999' 'WORKDIR /data' 'EXPOSE 6379/tcp' 'CMD ["redis-server"]'
}

build_postgres() { # build_postgres <tag>
  local root=$work/postgres hash made
  hash=$(hash_of)
  current "$1" "$hash" && return
  # Without the just-in-time compiler, which is twice the rest; dash is what initdb starts its parts with.
  unpack "$root" postgresql-17 libpq5 libicu76 libxml2 libxslt1.1 libldap2 libsasl2-2 libgssapi-krb5-2 libkrb5-3 \
    libk5crypto3 libkrb5support0 libkeyutils1 libcom-err2 libpam0g libaudit1 libcap-ng0 libselinux1 libpcre2-8-0 libuuid1 \
    liblz4-1 liblzma5 libreadline8t64 libtinfo6 libxxhash0 tzdata dash
  echo 'postgres:x:999:999::/data:/bin/sh' >"$root/etc/passwd"
  import "$1-empty" "$hash" "$root" 'USER 999:999' 'ENV PATH=/usr/lib/postgresql/17/bin:/usr/bin PGDATA=/data/main'
  made=$(docker create "$1-empty" sh -c 'initdb --username=postgres --auth=trust --encoding=UTF8 --no-locale --no-sync &&
    echo host all all all trust >>"$PGDATA/pg_hba.conf"')
  docker start -a "$made" >/dev/null
  docker commit --change 'EXPOSE 5432/tcp' --change 'STOPSIGNAL SIGINT' \
    --change 'CMD ["postgres", "-c", "listen_addresses=*", "-c", "unix_socket_directories="]' "$made" "$1" >/dev/null
  docker rm "$made" >/dev/null
  docker rmi "$1-empty" >/dev/null
  echo "built $1"
}

build_nats() { # build_nats <tag>
  local root=$work/nats hash
  hash=$(hash_of "$pkg/go.mod")
  current "$1" "$hash" && return
  rm -rf "$root"
  mkdir -p "$root/tmp"
  chmod 1777 "$root/tmp"
  GOWORK=off CGO_ENABLED=0 go build -C "$pkg" -trimpath -buildvcs=false -ldflags='-s -w' -o "$root/nats-server" \
    github.com/nats-io/nats-server/v2
  import "$1" "$hash" "$root" 'EXPOSE 4222/tcp' 'ENTRYPOINT ["/nats-server"]'
}

says() { # says <tag> <expected> <argument>...: the version inside is the one on the label
  local tag=$1 want=$2 got
  shift 2
  got=$(docker run --rm "$tag" "$@")
  [[ $got == *"$want"* ]] || { echo "images.sh: $tag says '$got', want '$want'" >&2; exit 1; }
}

mkdir -p "$work"
build_redis "$HUB/redis:8.0"
build_postgres "$HUB/postgres:17"
build_nats "$HUB/nats:2.15"
says "$HUB/redis:8.0" 'v=8.0.' redis-server --version
says "$HUB/postgres:17" '(PostgreSQL) 17.' postgres --version
says "$HUB/nats:2.15" 'v2.15.' --version
docker image prune -f --filter label=ci.hash >/dev/null # superseded builds of ours
