package app

import (
	"context"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/agentapi"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/agents"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/changes"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/consent"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/devices"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/relay"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/tasks"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wishes"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/pictures"
)

// front is what the front door for MCP clients has running.
type front struct {
	relay    *relay.Relay
	changes  *changes.Feed
	services *changes.Services // nil where there are no agents
	pictures *pictures.Keeper
	wishes   *wishes.Book
	consent  *consent.Keeper // nil where there is no orchestrator, as tasks
	tasks    *tasks.Book
}

func (a *App) startMCP(context.Context) (err error) {
	a.front = front{relay: relay.New(a.bus, a.log), changes: changes.New(a.bus, a.presence, a.log)}
	if a.front.pictures, err = pictures.New(a.hub, a.bus, a.log); err != nil {
		return err
	}
	if a.front.wishes, err = wishes.New(a.bus, a.log); err != nil {
		return err
	}
	if a.agents != nil {
		a.front.consent, err = consent.New(consent.Options{
			Admitter: agentv1.NewApprovalServiceClient(a.agents), Bus: a.bus, AskNewUsers: a.cfg.MCPApprovals == approvalsAlways,
			Address: strings.TrimRight(a.cfg.Auth.PublicURL, "/"), Logger: a.log,
		})
		a.front.tasks = tasks.NewBook(agentv1.NewTaskServiceClient(a.agents), a.log)
	}
	return err
}

func (f *front) close() {
	f.tasks.Close()
	if f.services != nil {
		f.services.Close()
	}
	f.relay.Close()
	f.changes.Close()
	f.pictures.Close()
	f.wishes.Close()
	f.consent.Close()
}

// mcpAPI returns the front door. runs is nil where there are no agents.
func (a *App) mcpAPI(runs *agentapi.API) (*mcp.API, error) {
	box, err := a.mcpBox()
	if err != nil {
		return nil, err
	}
	book := names.NewBook(nil)
	if a.agents != nil {
		book = names.NewBook(nameKeeper{agentv1.NewNameServiceClient(a.agents)})
	}
	sources := []catalogue.Source{devices.New(a.presence, a.router, book, a.defs, a.front.consent)}
	var files mcp.Files
	var prompts *agents.Prompts
	if runs != nil {
		files = runs
		prompts = &agents.Prompts{Prompter: runs, Book: book, Logger: a.log}
		a.front.services = changes.NewServices(runs.WatchServices)
		sources = append(sources, agents.New(runs,
			&agents.Known{Nodes: a.presence, Definitions: a.defs, Devices: sources[0]},
			&agents.Services{Toolbox: runs, Book: book, Consent: a.front.consent, Logger: a.log},
		))
	}
	return mcp.New(mcp.Config{
		Auth: a.auth, Limits: a.limits, Sources: sources, Files: files, Prompts: prompts, Services: a.front.services, Box: box,
		Nodes: a.presence, Pictures: a.front.pictures, Wishes: a.front.wishes,
		Tasks: a.front.tasks, TaskAfter: a.cfg.MCPTaskAfter, Relay: a.front.relay, Changes: a.front.changes, Streams: &a.streams,
		MaxBody:   int64(a.cfg.MaxFrame) + headroom,
		Heartbeat: a.cfg.MCPHeartbeat, Tracing: a.tracing, Version: a.version, Logger: a.log,
		Ended: func(o mcp.Operation) {
			a.counts.MCP.WithLabelValues(o.Method, o.Version, o.Error).Observe(o.Took.Seconds())
		},
	}), nil
}

// mcpBox seals what MCP clients carry. Without keys the pod has one of its own.
func (a *App) mcpBox() (*seal.Box, error) {
	keys := a.cfg.MCPKeys.Keys()
	if len(keys) == 0 {
		a.log.Warn("MCP_KEYS is not set: sessions of MCP clients are known to this pod alone, until it ends; give all gateways the same key")
		keys = []config.Secret{seal.NewKey()}
	}
	return seal.New(keys...)
}

// nameKeeper asks the orchestrators.
type nameKeeper struct{ client agentv1.NameServiceClient }

// ClaimNames implements [names.Keeper].
func (k nameKeeper) ClaimNames(ctx context.Context, user ids.UserID, claims []names.Binding) ([]names.Binding, error) {
	req := &agentv1.ClaimNamesRequest{Names: make([]*agentv1.NameBinding, len(claims))}
	for i, c := range claims {
		req.Names[i] = &agentv1.NameBinding{Name: c.Name, NodeId: string(c.Node), Tool: c.Tool}
	}
	resp, err := k.client.ClaimNames(auth.OnBehalf(ctx, user), req)
	return bindings(resp.GetNames()), err
}

// ListNames implements [names.Keeper].
func (k nameKeeper) ListNames(ctx context.Context, user ids.UserID) ([]names.Binding, error) {
	resp, err := k.client.ListNames(auth.OnBehalf(ctx, user), &agentv1.ListNamesRequest{})
	return bindings(resp.GetNames()), err
}

func bindings(list []*agentv1.NameBinding) []names.Binding {
	out := make([]names.Binding, len(list))
	for i, n := range list {
		out[i] = names.Binding{Name: n.GetName(), Owner: names.Owner{Node: ids.NodeID(n.GetNodeId()), Tool: n.GetTool()}}
	}
	return out
}
