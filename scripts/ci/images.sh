#!/usr/bin/env bash
# Builds the images that the integration tests and docker-compose.yml start, without a registry:
#   redis     from Debian 13's packages, with a shell
#   postgres  the same, with an empty database cluster that accepts every user, whatever POSTGRES_* say
#   pgvector  the same with pgvector; it does with POSTGRES_* what the official image does
#   nginx     the same, with a shell and wget
#   nats      from the Go module that pkg/go.mod pins, static, on nothing; the alpine one with a shell and wget
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
  unpack "$root" redis-server redis-tools libjemalloc2 liblzf1 libatomic1 dash
  import "$1" "$hash" "$root" 'USER 999:999' 'WORKDIR /data' 'EXPOSE 6379/tcp' 'CMD ["redis-server"]'
}

applets() { # applets <root directory> <applet>...: of the busybox that was unpacked there
  local root=$1 a
  shift
  for a; do ln -sf busybox "$root/usr/bin/$a"; done
}

# Without the just-in-time compiler, which is twice the rest.
unpack_postgres() { # unpack_postgres <root directory> <package>...
  unpack "$@" postgresql-17 libpq5 libicu76 libxml2 libxslt1.1 libldap2 libsasl2-2 libgssapi-krb5-2 libkrb5-3 \
    libk5crypto3 libkrb5support0 libkeyutils1 libcom-err2 libpam0g libaudit1 libcap-ng0 libselinux1 libpcre2-8-0 libuuid1 \
    liblz4-1 liblzma5 libreadline8t64 libtinfo6 libxxhash0 tzdata
  echo 'postgres:x:999:999::/data:/bin/sh' >"$1/etc/passwd"
}

build_postgres() { # build_postgres <tag>
  local root=$work/postgres hash made
  hash=$(hash_of)
  current "$1" "$hash" && return
  unpack_postgres "$root" dash # with which initdb starts its parts
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

build_pgvector() { # build_pgvector <tag>
  local root=$work/pgvector hash data=var/lib/postgresql/data
  hash=$(hash_of "$here/postgres-entrypoint.sh")
  current "$1" "$hash" && return
  unpack_postgres "$root" postgresql-17-pgvector postgresql-client-17 busybox-static
  applets "$root" sh cat mktemp rm
  install -m 755 "$here/postgres-entrypoint.sh" "$root/usr/bin/docker-entrypoint.sh"
  # A volume gets its mode from here; PostgreSQL requires that only the owner may read the database cluster.
  install -d -m 1777 "$root/$data"
  import "$1" "$hash" "$root" 'USER 999:999' "ENV PATH=/usr/lib/postgresql/17/bin:/usr/bin PGDATA=/$data/main" \
    'EXPOSE 5432/tcp' 'STOPSIGNAL SIGINT' "VOLUME /$data" 'ENTRYPOINT ["docker-entrypoint.sh"]' 'CMD ["postgres"]'
}

build_nginx() { # build_nginx <tag>
  local root=$work/nginx hash
  hash=$(hash_of)
  current "$1" "$hash" && return
  unpack "$root" nginx nginx-common libpcre2-8-0 libcrypt1 busybox-static
  applets "$root" sh wget
  echo 'nginx:x:101:101::/tmp:/bin/sh' >"$root/etc/passwd"
  import "$1" "$hash" "$root" 'ENV PATH=/usr/sbin:/usr/bin' 'EXPOSE 80/tcp' 'STOPSIGNAL SIGQUIT' \
    'CMD ["nginx", "-g", "daemon off;"]'
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

build_nats_alpine() { # build_nats_alpine <tag>: the program is that of build_nats
  local root=$work/nats-alpine hash
  hash=$(hash_of "$pkg/go.mod")
  current "$1" "$hash" && return
  unpack "$root" busybox-static
  applets "$root" sh wget
  install -m 755 "$work/nats/nats-server" "$root/usr/bin/"
  import "$1" "$hash" "$root" 'ENV PATH=/usr/bin' 'EXPOSE 4222/tcp' 'CMD ["nats-server"]'
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
build_pgvector "$HUB/pgvector/pgvector:pg17"
build_nginx "$HUB/nginx:stable-alpine"
build_nats "$HUB/nats:2.15"
build_nats_alpine "$HUB/nats:2.15-alpine"
says "$HUB/redis:8.0" 'v=8.0.' redis-server --version
says "$HUB/postgres:17" '(PostgreSQL) 17.' postgres --version
says "$HUB/pgvector/pgvector:pg17" '(PostgreSQL) 17.' pg_isready --version
says "$HUB/nginx:stable-alpine" 'nginx/1.' sh -c 'nginx -v 2>&1'
says "$HUB/nats:2.15" 'v2.15.' --version
says "$HUB/nats:2.15-alpine" 'v2.15.' nats-server --version
docker image prune -f --filter label=ci.hash >/dev/null # superseded builds of ours
