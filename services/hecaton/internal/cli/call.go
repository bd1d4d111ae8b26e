package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// callConfig is whom to call how.
type callConfig struct {
	GRPC   string        `conf:"grpc" env:"HECATON_GRPC" default:"127.0.0.1:9080" help:"a gateway's gRPC address"`
	Server string        `conf:"server" env:"HECATON_SERVER" help:"a gateway's URL, such as http://127.0.0.1:8080: calls by REST, not by gRPC"`
	User   string        `conf:"user,required" env:"HECATON_USER" help:"whose node"`
	Token  config.Secret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user, for --server"`

	Node    string        `conf:"node" help:"which node; the session's, or the first that is connected, where empty"`
	Type    string        `conf:"type" help:"extension or desktop; any where empty"`
	Session string        `conf:"session" help:"session of the call: it selects the node, and is passed on to it"`
	Timeout time.Duration `conf:"timeout" default:"60s" help:"how long to wait for the answer"`

	JSON bool   `conf:"json" help:"print the answer as it came"`
	Out  string `conf:"out" help:"file for the answer's image; further images get -2, -3, ..."`

	Services auth.ServiceAuth
}

// Validate reports what cannot work.
func (c callConfig) Validate() error {
	if _, ok := nodetype.Parse(c.Type); !ok && c.Type != "" {
		return fmt.Errorf("--type is %q, must be extension or desktop", c.Type)
	}
	if c.Timeout <= 0 {
		return errors.New("--timeout must be positive")
	}
	return nil
}

func call(ctx context.Context, e Env) error {
	var cfg callConfig
	var words []string
	if err := e.load("call", &cfg, &words); err != nil {
		return err
	}
	if len(words) == 0 {
		return usage("which tool? Give its name")
	}
	args, err := parseArguments(words[1:])
	if err != nil {
		return &usageError{err}
	}
	kind, _ := nodetype.Parse(cfg.Type)
	what := &toolv1.Call{
		UserId: cfg.User, NodeId: cfg.Node, NodeType: kind, SessionId: cfg.Session, ToolName: words[0], ArgumentsJson: args,
		Timeout: durationpb.New(cfg.Timeout),
	}
	got, err := cfg.run(ctx, e, what)
	if err != nil {
		return err
	}
	return got.print(e, cfg)
}

// run calls the tool, one way or the other.
func (c callConfig) run(ctx context.Context, e Env, what *toolv1.Call) (*answer, error) {
	if c.Server != "" { // which takes no timeout
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		rest := restClient{server: c.Server, user: c.User, token: c.Token}
		return rest.call(ctx, c.Type, what)
	}
	// The gateway ends the call in time; if even its answer does not arrive, the call ends here.
	ctx, cancel := context.WithTimeout(ctx, c.Timeout+10*time.Second)
	defer cancel()
	return callGRPC(ctx, e, c, what)
}
