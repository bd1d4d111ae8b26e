# Everything a contributor runs. Plain `make` lists it. Go is all that is needed unless a target says otherwise.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PKGS        ?= work
GOTESTFLAGS ?=
TIMEOUT     ?= 20m
FUZZTIME    ?= 10000x
VULNDB      ?= https://vuln.go.dev
NIGHTLY     ?=
BENCHFLAGS  ?=
LOADFLAGS   ?=

MODULES = $(shell scripts/modules.sh)
GOTEST  = bin/gotest $(if $(filter 1,$(TEST_REQUIRE_REAL)),-no-skips) $(if $(filter true,$(CI)),-again) $(if $(filter 1,$(REFUSE_FLAKY)),-flaky scripts/ci/flaky.txt)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## ---- run ----

.PHONY: run build images compose-up compose-down demo-scale faults reliability
run: ## start a cluster of two gateways with a desktop node, show a call and a run of an agent, and serve
	@go build -o bin/hecaton ./services/hecaton/cmd/hecaton
	@exec bin/hecaton up --gateways 2 --demo

images: ## build the programs' images (hecaton/*:dev) from programs compiled here (needs a Docker engine)
	scripts/dist.sh dist
	BIN=dist docker compose build

compose-up: images ## start a cluster of containers on http://127.0.0.1:8080, and wait until all is well
	docker compose up --wait

demo-scale: ## watch two gateways become five, and two again, under load (needs a Docker engine)
	scripts/demo-scale.sh

mcp-conformance: ## run the official conformance suite of MCP against two gateways and a balancer (needs npm)
	scripts/mcp-conformance.sh

moves: ## move a node from pod to pod under load, 2,000 times, and reconcile what became of every call
	TEST_MOVES=2000 go test -count=1 -v -run '^TestNoCallIsLostWhenANodeMoves$$' ./services/e2e/faults

ledger: ## fire a thousand tasks in simulated days while orchestrators are killed in turn, and reconcile every firing
	TEST_LEDGER=whole go test -count=1 -v -run '^TestLedger$$' ./services/e2e/schedule

faults: ## restart, kill, pause and cut off each part of a cluster of containers under load (needs a Docker engine, root)
	scripts/ci/faults.sh $(FAULTS)

reliability: ## put what the last of them saw into docs/reliability.md
	GOWORK=off go -C scripts/tools run ./reliability $(CURDIR)/bin/faults/report.json $(CURDIR)/docs/reliability.md

compose-down: ## stop it, and forget what it kept
	docker compose down --volumes

build: ## compile the programs into bin/
	go build -trimpath -o bin/ $(patsubst %,./%/...,$(wildcard services/*/cmd))

## ---- test ----

.PHONY: test test-race memory integration extension fuzz bench load
test: bin/gotest ## run every test, real servers where they are, stand-ins elsewhere (TEST_REQUIRE_REAL=1: no stand-in, no skip)
	$(GOTEST) -timeout $(TIMEOUT) $(GOTESTFLAGS) $(PKGS)

test-race: ## the same under the race detector (needs a C compiler)
	$(MAKE) test GOTESTFLAGS="-race $(GOTESTFLAGS)"

memory: bin/gotest ## what readers may allocate, held to the byte, which the race detector's programs cannot be
	$(GOTEST) -run 'Cost|IsReadOnce' -timeout $(TIMEOUT) $(GOTESTFLAGS) ./pkg/transport/jsonrpc ./pkg/tool/toolresult ./services/gateway/internal/... ./services/e2e/hostile
	$(GOTEST) -run 'IsHeldToItsBounds|HostileDocuments' -timeout $(TIMEOUT) $(GOTESTFLAGS) ./services/knowledge/internal/parse

integration: bin/gotest ## tests against Redis, NATS and PostgreSQL in containers (needs a Docker engine)
	$(GOTEST) -timeout $(TIMEOUT) -tags integration $(GOTESTFLAGS) $$(scripts/integration-packages.sh)

extension: ## the browser extension's unit tests (needs Node.js)
	cd services/browser-extension && node --test

fuzz: ## run every fuzz target for FUZZTIME (10000x: a count, or a time such as 5m)
	FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

bench: ## measure a call beside a bare relay in one run, and print the ratios
	go run ./services/e2e/bench $(BENCHFLAGS)

load: ## put a cluster under load and reconcile what became of every call (LOADFLAGS: see hecaton bench --help)
	@go build -o bin/hecaton ./services/hecaton/cmd/hecaton
	@bin/hecaton bench $(LOADFLAGS)

## ---- deploy ----

.PHONY: k8s chart manifests k8s-test k8s-report
k8s: ## build Kubernetes and helm from their Go modules, once (about seven minutes)
	scripts/k8s/build.sh

chart: k8s ## check the Helm chart against a Kubernetes API server
	scripts/ci/chart.sh

manifests: k8s ## make deploy/kubernetes from the Helm chart
	go run ./pkg/security/access/write deploy/helm/hecaton/files
	scripts/manifests.sh

k8s-test: k8s images ## install the chart on three nodes of this machine, and scale, restart, drain and lose them under load (root)
	scripts/ci/images.sh
	scripts/k8s-test/run.sh bin/k8s-test

k8s-report: ## put what that saw into docs/kubernetes.md
	GOWORK=off go -C scripts/tools run ./reliability $(CURDIR)/bin/k8s-test/report.json $(CURDIR)/docs/kubernetes.md

## ---- code ----

.PHONY: generate tidy fmt lint pictures
generate: ## regenerate proto/gen
	scripts/buf.sh generate

tidy: ## go mod tidy in every module
	for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy); done

pictures: ## draw docs/pictures anew, from a run of the demo and the figures of docs/performance.md
	scripts/pictures.sh

fmt: ## gofmt everything
	gofmt -w $(MODULES)

lint: bin/golangci-lint ## golangci-lint over the workspace
	bin/golangci-lint run $(patsubst %,./%/...,$(filter-out scripts/%,$(MODULES)))

.PHONY: verify ci nightly vulncheck
verify: ## check all that must hold of the code without running it
	scripts/verify.sh

ci: ## what CI runs: everything, on a Debian 12 machine, installing what is missing (as root)
	bash .ci/run

nightly: ## what CI leaves out because it takes long: bare tests, faults, conformance, Kubernetes, scaling, fuzzing, benchmark (as root)
	scripts/ci/nightly.sh $(NIGHTLY)

vulncheck: ## look for known vulnerabilities in what the programs call (VULNDB=file:///dir for a database of one's own)
	scripts/vulncheck.sh $(VULNDB)

# Tools that must see the workspace are built first: "go tool -modfile" works outside of one only.
bin/gotest: $(wildcard scripts/tools/gotest/*.go)
	GOWORK=off go build -C scripts/tools -o $(CURDIR)/bin/ ./gotest

bin/golangci-lint: scripts/tools/lint/go.mod
	GOWORK=off go build -C scripts/tools/lint -o $(CURDIR)/bin/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
