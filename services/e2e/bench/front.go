package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// front is what MCP clients call: a gateway with an orchestrator, which keeps the names of tools. Beside it stands the SDK's server.
type front struct {
	pod
	sdk  pod
	dir  string // of the orchestrator's database
	rest []*proc.Child
}

// startFront starts one; end it.
func (c *cluster) startFront() (_ *front, err error) {
	f := &front{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.end())
		}
	}()
	if f.dir, err = os.MkdirTemp("", "hecaton-bench-"); err != nil {
		return nil, err
	}
	model, err := c.start(roleModel, wiring{})
	if err != nil {
		return nil, err
	}
	f.rest = append(f.rest, model.Child)
	keeper, err := c.start(roleOrchestrator, wiring{
		Name: "keeper", NATS: c.nats.URL, Gateway: c.holder.GRPC, Model: model.URL, Database: "sqlite://" + filepath.Join(f.dir, "names.db"), Directory: f.dir,
	})
	if err != nil {
		return nil, err
	}
	f.rest = append(f.rest, keeper.Child)
	if f.pod, err = c.gateway("front", keeper.GRPC); err != nil {
		return nil, err
	}
	f.sdk, err = c.start(roleSDK, wiring{})
	return f, err
}

// end kills all of it.
func (f *front) end() error {
	for _, child := range append(f.rest, f.Child, f.sdk.Child) {
		if child != nil {
			child.Kill()
		}
	}
	return os.RemoveAll(f.dir)
}
