module github.com/hecaton-dev/hecaton/services/e2e

go 1.26.0

require (
	github.com/hecaton-dev/hecaton/pkg v0.0.0
	github.com/hecaton-dev/hecaton/proto v0.0.0
	github.com/hecaton-dev/hecaton/services/gateway v0.0.0
	github.com/hecaton-dev/hecaton/services/node-registry v0.0.0
	github.com/hecaton-dev/hecaton/services/agent-orchestrator v0.0.0
	github.com/hecaton-dev/hecaton/services/hecaton v0.0.0
)

replace (
	github.com/hecaton-dev/hecaton/pkg => ../../pkg
	github.com/hecaton-dev/hecaton/proto => ../../proto
	github.com/hecaton-dev/hecaton/services/gateway => ../../services/gateway
	github.com/hecaton-dev/hecaton/services/node-registry => ../../services/node-registry
	github.com/hecaton-dev/hecaton/services/agent-orchestrator => ../../services/agent-orchestrator
	github.com/hecaton-dev/hecaton/services/hecaton => ../../services/hecaton
)
