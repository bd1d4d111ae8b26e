module github.com/hecaton-dev/hecaton/services/node-registry

go 1.26.0

require (
	github.com/hecaton-dev/hecaton/pkg v0.0.0
	github.com/hecaton-dev/hecaton/proto v0.0.0
)

replace (
	github.com/hecaton-dev/hecaton/pkg => ../../pkg
	github.com/hecaton-dev/hecaton/proto => ../../proto
)
