package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// nodesConfig is whose nodes to list.
type nodesConfig struct {
	GRPC string `conf:"grpc" env:"HECATON_GRPC" default:"127.0.0.1:9080" help:"a gateway's gRPC address"`
	User string `conf:"user,required" env:"HECATON_USER" help:"whose nodes"`
	All  bool   `conf:"all" help:"also those that went away within the last minute"`

	Services auth.ServiceAuth
}

func listNodes(ctx context.Context, e Env) error {
	var cfg nodesConfig
	if err := e.load("nodes", &cfg, nil); err != nil {
		return err
	}
	conn, err := dialGRPC(cfg.GRPC, cfg.Services)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := reach(ctx, conn); err != nil {
		return err
	}
	list, err := toolv1.NewToolServiceClient(conn).ListNodes(ctx, &toolv1.ListNodesRequest{UserId: cfg.User, IncludeOffline: cfg.All})
	if err != nil {
		return rpcError(err)
	}
	if len(list.GetNodes()) == 0 {
		fmt.Fprintf(e.Stderr, "%s has no node connected\n", printable(cfg.User))
		return nil
	}
	return table(e, list.GetNodes(), time.Now())
}

func table(e Env, nodes []*nodev1.Node, now time.Time) error {
	t := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NODE\tTYPE\tNAME\tSTATUS\tTASKS\tGATEWAY\tCONNECTED\tTOOLS")
	for _, n := range nodes {
		info := n.GetInfo()
		var tools []string
		for _, tool := range info.GetAvailableTools() {
			tools = append(tools, printable(tool))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d/%d\t%s\t%s\t%s\n", printable(info.GetNodeId()), printable(nodetype.Name(info.GetNodeType())),
			printable(info.GetNodeName()), nodetype.StatusName(n.GetStatus()), n.GetCurrentTasks(), info.GetMaxConcurrentTasks(),
			printable(n.GetGatewayId()), since(n, now), printable(strings.Join(tools, ",")))
	}
	return t.Flush()
}

// since is how long a node is connected.
func since(n *nodev1.Node, now time.Time) string {
	if !n.GetIsConnected() || n.GetConnectedAt() == nil {
		return "-"
	}
	return max(0, now.Sub(n.GetConnectedAt().AsTime())).Round(time.Second).String()
}
