package zeus

import (
	"context"
	"net/http"
	"time"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect/zeus/workflow"
)

// Dialect declares Zeus.
var Dialect = dialect.Dialect{
	Name: "zeus",
	Kinds: []*dialect.Kind{
		{Name: "extension", Path: "/ws/extension", Type: extension.typ, Identify: extension.identify},
		{Name: "desktop", Path: "/ws/desktop", Type: desktop.typ, Identify: desktop.identify},
		{Name: "web", Path: "/ws/web", Identify: identifyWeb},
	},
	New: func(env dialect.Env) dialect.Protocol { return New(env) },
}

// kind is one of the two kinds of nodes.
type kind struct {
	typ    nodev1.NodeType
	prefix string // of client_id
	deflt  string // of the node id where none is given
}

// The two of docs/protocols/zeus-nodes.md#endpoints.
var (
	extension = &kind{nodev1.NodeType_NODE_TYPE_EXTENSION, "user_", "ext_"}
	desktop   = &kind{nodev1.NodeType_NODE_TYPE_DESKTOP, "desktop_", "desktop_"}
)

func (k *kind) identify(r *http.Request) (dialect.Identity, *dialect.Refusal) {
	user, node, refusal := nodeParams(r, k)
	return dialect.Identity{User: user, Node: node}, refusal
}

func identifyWeb(r *http.Request) (dialect.Identity, *dialect.Refusal) {
	user, refusal := webParams(r)
	return dialect.Identity{User: user}, refusal
}

// Zeus is the dialect at work.
type Zeus struct {
	dialect.Env
	workflows *workflow.Runner
}

// New returns the dialect for one pod.
func New(env dialect.Env) *Zeus {
	return &Zeus{Env: env, workflows: &workflow.Runner{Router: env.Router, Announce: env.Fanout, Logger: env.Logger}}
}

// Session implements [dialect.Protocol].
func (z *Zeus) Session(c *dialect.Client) dialect.Session {
	switch c.Kind.Type {
	case extension.typ:
		return &nodeSession{zeus: z, c: c, kind: extension}
	case desktop.typ:
		return &nodeSession{zeus: z, c: c, kind: desktop}
	}
	return &webSession{zeus: z, c: c}
}

// ExecuteWorkflow runs a workflow and waits for its end, see [workflow.Runner.Execute].
func (z *Zeus) ExecuteWorkflow(
	ctx context.Context, target router.Target, id string, variables []byte, deadline time.Time,
) (*router.Answer, error) {
	return z.workflows.Execute(ctx, target, id, variables, deadline)
}
