package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/desktop"
)

const (
	demoUser = "demo"
	demoNode = "demo-desk"
)

// demoTools leave out run_command and screenshot: in trusted mode every user of this machine may call the tools, and
// starting a demo is no consent to that.
var demoTools = []string{"read_file", "write_file", "list_directory"}

// demo is a desktop node on the first gateway.
type demo struct {
	cluster *embedded.Cluster
	cfg     upConfig
	token   string // "" in trusted mode
	tools   *desktop.Tools
	temp    string // the directory to remove; "" where it is the user's own
	node    *node.Node
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the node has
	err     error         // of the node; static once ended is closed
}

// startDemo starts the node; it lives until stop.
func startDemo(cluster *embedded.Cluster, cfg upConfig) (_ *demo, err error) {
	d := &demo{cluster: cluster, cfg: cfg, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			d.clean()
		}
	}()
	if d.token, err = demoToken(cfg.Auth); err != nil {
		return nil, err
	}
	dir := cfg.Dir
	if dir == "" {
		if dir, err = newDemoDir(); err != nil {
			return nil, err
		}
		d.temp = dir
	}
	if d.tools, err = desktop.Open(dir, desktop.Options{Tools: demoTools}); err != nil {
		return nil, err
	}
	d.node, err = node.New(node.Options{
		Server: "ws://" + cluster.Gateways[0].HTTP, UserID: demoUser, NodeID: demoNode, Name: "Demo desktop",
		Capabilities: d.tools.Capabilities(), Token: func(context.Context) (string, error) { return demoToken(cfg.Auth) },
	})
	if err != nil {
		return nil, err
	}
	d.tools.Register(d.node)
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	go func() {
		defer close(d.ended)
		d.err = d.node.Run(ctx)
	}()
	return d, nil
}

// demoToken is what proves the demo's user.
func demoToken(c auth.Config) (string, error) {
	if c.Mode == auth.Trusted {
		return "", nil
	}
	if c.Secret == "" {
		return "", errors.New("with --auth-mode jwt it needs JWT_SECRET, to sign a token for its user")
	}
	return auth.Mint(c.Secret.First(), auth.Claims{
		User: demoUser, Issuer: c.Issuer, Audience: c.Audience, Expires: time.Now().Add(time.Hour),
	})
}

func newDemoDir() (string, error) {
	dir, err := os.MkdirTemp("", "hecaton-demo-")
	if err != nil {
		return "", err
	}
	hello := "An agent can read this through any gateway.\n"
	return dir, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte(hello), 0o600)
}

// stop ends the node; d may be nil.
func (d *demo) stop() {
	if d == nil {
		return
	}
	d.cancel()
	<-d.ended // an error would be that its gateway is gone
	d.clean()
}

func (d *demo) clean() {
	if d.tools != nil {
		_ = d.tools.Close()
	}
	if d.temp != "" {
		_ = os.RemoveAll(d.temp)
	}
}

// demoPatience is how long the node may take to connect.
const demoPatience = 20 * time.Second

// show makes one call through the last gateway, and says how it went from pod to pod.
func (d *demo) show(ctx context.Context) (string, error) {
	late, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	select {
	case <-d.node.Connected():
	case <-d.ended:
		return "", errors.Join(errors.New("the node has ended"), d.err)
	case <-late.Done():
		return "", errors.Join(errors.New("the node has not connected"), ctx.Err())
	}
	holder, err := d.holder(late)
	if err != nil {
		return "", err
	}
	asked := len(d.cluster.Gateways) - 1
	rest := restClient{server: "http://" + d.cluster.Gateways[asked].HTTP, user: demoUser, token: config.Secret(d.token)}
	began := time.Now()
	got, err := rest.call(late, "desktop", &toolv1.Call{NodeId: demoNode, ToolName: "list_directory"})
	took := time.Since(began)
	if err != nil {
		return "", err
	}
	if !got.ok {
		return "", fmt.Errorf("list_directory failed: %s", got.text())
	}
	return d.story(holder, asked, took, got.text()), nil
}

// holder asks the cluster which gateway holds the node.
func (d *demo) holder(ctx context.Context) (int, error) {
	conn, err := dialGRPC(d.cluster.Gateways[len(d.cluster.Gateways)-1].GRPC, d.cluster.Services)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	list, err := toolv1.NewToolServiceClient(conn).ListNodes(ctx, &toolv1.ListNodesRequest{UserId: demoUser})
	if err != nil {
		return 0, err
	}
	for _, n := range list.GetNodes() {
		for i, g := range d.cluster.Gateways {
			if n.GetInfo().GetNodeId() == demoNode && n.GetGatewayId() == g.ID {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("the registry does not know where node %s of user %s is", demoNode, demoUser)
}

// endpoint is the MCP endpoint of a gateway, as a client has to be told it.
func (d *demo) endpoint(gateway int) string {
	url := "http://" + d.cluster.Gateways[gateway].HTTP + "/mcp"
	if d.token == "" {
		url += "?user_id=" + demoUser
	}
	return url
}

func (d *demo) story(holder, asked int, took time.Duration, result string) string {
	var b strings.Builder
	title := "A tool call across two pods"
	if holder == asked {
		title = "A tool call (on the pod that holds the node; with --gateways 2 it crosses pods)"
	}
	header, token := "", ""
	if d.token != "" {
		header, token = ` -H "Authorization: Bearer $TOKEN"`, " with a JWT of user "+demoUser
	}
	fmt.Fprintf(&b, "\n%s\n\n", title)
	fmt.Fprintf(&b, "  the node     %s of user %s: %s in %s\n", demoNode, demoUser, strings.Join(demoTools, ", "), d.tools.Root())
	fmt.Fprintf(&b, "  is held by   gateway %d, by a WebSocket to ws://%s/ws/desktop\n", holder, d.cluster.Gateways[holder].HTTP)
	fmt.Fprintf(&b, "  was called   through gateway %d, by POST http://%s/api/node/desktop/tool\n", asked, d.cluster.Gateways[asked].HTTP)
	fmt.Fprintf(&b, "  answered     list_directory in %s:\n\n", took.Round(10*time.Microsecond))
	for line := range strings.Lines(result) {
		fmt.Fprintf(&b, "    | %s\n", strings.TrimSuffix(line, "\n"))
	}
	fmt.Fprintf(&b, "\nTry it%s:\n\n  curl 'http://%s/api/node/desktop/tool?user_id=%s'%s -H 'Content-Type: application/json' \\\n",
		token, d.cluster.Gateways[asked].HTTP, demoUser, header)
	fmt.Fprintf(&b, "    -d '{\"tool_name\":\"read_file\",\"tool_args\":{\"path\":\"hello.txt\"}}'\n")
	fmt.Fprintf(&b, "\nUse its tools from an MCP client, such as Claude Code%s:\n\n", token)
	fmt.Fprintf(&b, "  claude mcp add --transport http hecaton '%s'%s\n", d.endpoint(asked), strings.Replace(header, "-H", "--header", 1))
	return b.String()
}
