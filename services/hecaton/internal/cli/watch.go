package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// watchConfig is whose nodes to follow.
type watchConfig struct {
	Registry string `conf:"registry" env:"HECATON_REGISTRY" default:"127.0.0.1:9090" help:"a node-registry's gRPC address"`
	User     string `conf:"user,required" env:"HECATON_USER" help:"whose nodes"`

	Services auth.ServiceAuth
}

// watchAgain is the pause before a stream that ended is opened again.
const watchAgain = time.Second

// watch follows events until ctx ends. If a stream ends, it opens another one, since a registry may have been replaced. It
// returns only errors that another attempt cannot cure.
func watch(ctx context.Context, e Env) error {
	var cfg watchConfig
	if err := e.load("watch", &cfg, nil); err != nil {
		return err
	}
	conn, err := dialGRPC(cfg.Registry, cfg.Services)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := reach(ctx, conn); err != nil {
		return err
	}
	registry := nodev1.NewNodeRegistryServiceClient(conn)
	for {
		err := follow(ctx, e, registry, cfg.User)
		switch status.Code(err) {
		case codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented:
			return rpcError(err)
		}
		if ctx.Err() != nil {
			return nil
		}
		fmt.Fprintf(e.Stderr, "events were missed: %v; looking again\n", errs.FromGRPC(err))
		if !sleep.For(ctx, watchAgain) {
			return nil
		}
	}
}

// follow prints the events of one stream until it ends.
func follow(ctx context.Context, e Env, registry nodev1.NodeRegistryServiceClient, user string) error {
	stream, err := registry.WatchNodes(ctx, &nodev1.WatchNodesRequest{UserId: user})
	if err != nil {
		return err
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return errors.New("the registry ended the stream")
		}
		if err != nil {
			return err
		}
		if line := eventLine(resp.GetEvent()); line != "" {
			if _, err := fmt.Fprintln(e.Stdout, line); err != nil {
				return err
			}
		}
	}
}

func eventLine(event *nodev1.NodeEvent) string {
	what := map[nodev1.NodeEvent_Kind]string{
		nodev1.NodeEvent_KIND_READY:   "watching",
		nodev1.NodeEvent_KIND_ONLINE:  "online",
		nodev1.NodeEvent_KIND_UPDATED: "updated",
		nodev1.NodeEvent_KIND_OFFLINE: "offline",
	}[event.GetKind()]
	if what == "" {
		return "" // of a newer registry
	}
	at := time.Now()
	if event.GetAt() != nil {
		at = event.GetAt().AsTime()
	}
	line := at.Local().Format(time.TimeOnly) + "  " + what
	n := event.GetNode()
	if event.GetKind() == nodev1.NodeEvent_KIND_READY || n == nil {
		return line
	}
	line = fmt.Sprintf("%-18s  %s (%s %s)", line, printable(n.GetInfo().GetNodeId()),
		printable(nodetype.Name(n.GetInfo().GetNodeType())), printable(n.GetInfo().GetNodeName()))
	if event.GetKind() == nodev1.NodeEvent_KIND_OFFLINE {
		return line
	}
	return fmt.Sprintf("%s %s, %d tasks, on %s", line, nodetype.StatusName(n.GetStatus()), n.GetCurrentTasks(), printable(n.GetGatewayId()))
}
