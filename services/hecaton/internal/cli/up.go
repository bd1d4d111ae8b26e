package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
	knowledge "github.com/hecaton-dev/hecaton/services/knowledge/app"
)

// upConfig is what a cluster in one process can be told.
type upConfig struct {
	Gateways  int    `conf:"gateways" default:"1" help:"how many gateways"`
	Host      string `conf:"host" default:"127.0.0.1" help:"address of the gateways' HTTP and gRPC ports; all else stays on loopback"`
	HTTPPort  int    `conf:"http-port" default:"8080" help:"HTTP port of the first gateway, the next one has the next; 0 takes free ones"`
	GRPCPort  int    `conf:"grpc-port" default:"9080" help:"gRPC port of the first gateway, likewise"`
	AdminPort int    `conf:"admin-port" default:"9180" help:"admin port of the first gateway, likewise"`

	Demo bool   `conf:"demo" help:"connect a desktop node with file tools to the first gateway, and call it through the last"`
	Dir  string `conf:"dir" help:"directory of the demo's files; a new one where empty"`

	Insecure bool `conf:"insecure" help:"allow trusted mode, without authentication, on an address other than loopback"`

	Orchestrators int           `conf:"orchestrators" default:"1" help:"how many agent-orchestrators"`
	DataDir       string        `conf:"data-dir" help:"directory of sessions and users' files; where empty hecaton in $XDG_DATA_HOME or ~/.local/share, with --demo a temporary one"`
	StorageURL    config.Secret `conf:"storage-url" env:"HECATON_STORAGE_URL" help:"PostgreSQL that keeps the sessions; SQLite in the data directory where empty"`
	NATSURL       config.Secret `conf:"nats-url" env:"NATS_URL" help:"NATS to use; in this process where empty"`
	RedisURL      config.Secret `conf:"redis-url" env:"REDIS_URL" help:"Redis to use; in this process where empty"`

	LLM          string        `conf:"llm" env:"LLM" help:"model of requests that name none: openai, or offline for a small scripted one in this process; offline where neither an endpoint nor a key is given"`
	OpenAIURL    string        `conf:"openai-base-url" env:"OPENAI_BASE_URL" help:"OpenAI-compatible endpoint; that of OpenAI where only a key is given"`
	OpenAIKey    config.Secret `conf:"openai-api-key" env:"OPENAI_API_KEY" help:"key of the endpoint"`
	OpenAIModel  string        `conf:"openai-model" env:"OPENAI_MODEL" help:"model of requests that name none"`
	OpenAIWindow int           `conf:"openai-context-window" env:"OPENAI_CONTEXT_WINDOW" help:"that model's window in tokens; 0 asks the table of known models"`

	Embeddings     string        `conf:"embeddings" env:"EMBEDDINGS" help:"what makes vectors of documents: openai, or offline for a small embedder of this process; offline where neither an endpoint, a key nor a model of embeddings is given"`
	EmbeddingModel string        `conf:"embedding-model" env:"EMBEDDING_MODEL" help:"model of the embeddings; text-embedding-3-small where empty"`
	EmbeddingURL   string        `conf:"embedding-base-url" env:"EMBEDDING_BASE_URL" help:"OpenAI-compatible endpoint of the embeddings; that of the model where empty"`
	EmbeddingKey   config.Secret `conf:"embedding-api-key" env:"EMBEDDING_API_KEY" help:"key of that endpoint; that of the model where both are empty"`
	Knowledge      int           `conf:"knowledge-services" default:"1" help:"how many knowledge services"`
	TikaURL        string        `conf:"tika-url" env:"TIKA_URL" help:"Apache Tika server that reads doc, xls, ppt and scanned documents, such as http://127.0.0.1:9998; empty for none"`

	UserAddresses []string `conf:"user-addresses-allow" env:"USER_ADDRESSES_ALLOW" help:"hosts, IP addresses and networks (10.1.0.0/16) that users may name although they are private or http; in trusted mode all are allowed"`
	MCPStdio      bool     `conf:"mcp-stdio" env:"MCP_STDIO" help:"let users run MCP servers as programs on this machine: everybody who may call the gateways can then run any program as you"`
	OAuth         orchestrator.OAuthConfig

	Limits   gateway.Limits `conf:"limit" env:"LIMIT_"`
	Auth     auth.Config
	Pages    webguard.Config
	Services auth.ServiceAuth
	Log      obs.LogConfig
	Trace    obs.TraceConfig
}

// Validate reports settings that cannot work, and those that would let anybody in.
func (c upConfig) Validate() error {
	var problems []error
	if c.Gateways < 1 {
		problems = append(problems, errors.New("--gateways must be at least 1"))
	}
	if c.Orchestrators < 1 {
		problems = append(problems, errors.New("--orchestrators must be at least 1"))
	}
	switch c.LLM {
	case "", "offline":
	case "openai":
		if c.model().IsOffline() {
			problems = append(problems, errors.New("--llm openai needs OPENAI_BASE_URL or OPENAI_API_KEY"))
		}
	default:
		problems = append(problems, fmt.Errorf("--llm is %q, must be openai or offline", c.LLM))
	}
	if c.Knowledge < 1 {
		problems = append(problems, errors.New("--knowledge-services must be at least 1"))
	}
	if k := c.Embeddings; k != "" && k != knowledge.EmbeddingsOpenAI && k != knowledge.EmbeddingsOffline {
		problems = append(problems, fmt.Errorf("--embeddings is %q, must be openai or offline", k))
	}
	for flag, port := range map[string]int{"http": c.HTTPPort, "grpc": c.GRPCPort, "admin": c.AdminPort} {
		if port < 0 || port+c.Gateways-1 > 65535 {
			problems = append(problems, fmt.Errorf("--%s-port %d: %d gateways need ports from 1 to 65535, or 0", flag, port, c.Gateways))
		}
	}
	if !auth.IsLoopback(c.Host) && c.MCPStdio && c.Auth.Mode == auth.Trusted {
		problems = append(problems, fmt.Errorf("--host %s is not loopback, and --mcp-stdio would let anybody run programs here: use jwt", c.Host))
	}
	if !auth.IsLoopback(c.Host) && !c.Insecure && c.Auth.Mode == auth.Trusted {
		problems = append(problems, fmt.Errorf(
			"--host %s is not loopback, and --auth-mode trusted authenticates nobody: use jwt, or --insecure in a network that you trust", c.Host))
	}
	return errors.Join(problems...)
}

func up(ctx context.Context, e Env) error {
	cfg := upConfig{Auth: auth.Config{Mode: auth.Trusted}, Log: quiet}
	if err := e.load("up", &cfg, nil); err != nil {
		return err
	}
	cluster, why, err := startCluster(ctx, e, cfg)
	switch {
	case err == nil:
	case stopped(ctx, err):
		return nil
	default:
		return portHint(err)
	}
	fmt.Fprint(e.Stdout, summary(cluster, cfg, why))
	d, problem := demonstrate(ctx, e, cluster, cfg)
	if problem == nil {
		wait(ctx, e, cluster)
	}
	err = errors.Join(problem, cluster.Stop())
	d.stop() // after the cluster, so that calls of its tools may finish
	return err
}

// startCluster starts the cluster on the chosen data directory. If none was chosen and the default one cannot be used, it
// uses a temporary directory; temporary says why.
func startCluster(ctx context.Context, e Env, cfg upConfig) (_ *embedded.Cluster, temporary string, err error) {
	o := cfg.options(e)
	switch {
	case cfg.DataDir != "":
	case cfg.Demo:
		temporary = "a demo keeps nothing"
	case e.dataHome() == "":
		temporary = "neither XDG_DATA_HOME nor HOME says where to keep it"
	default:
		o.DataDir = filepath.Join(e.dataHome(), "hecaton")
	}
	cluster, err := embedded.Start(ctx, o)
	var unusable *embedded.DataError
	if cfg.DataDir == "" && o.DataDir != "" && errors.As(err, &unusable) {
		temporary = unusable.Error()
		o.DataDir = ""
		cluster, err = embedded.Start(ctx, o)
	}
	return cluster, temporary, err
}

// dataHome is the directory for the data of this user's programs (XDG Base Directory Specification); "" if it is not known.
func (e Env) dataHome() string {
	if dir := e.variable("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	for _, home := range []string{"HOME", "USERPROFILE"} {
		if dir := e.variable(home); dir != "" {
			return filepath.Join(dir, ".local", "share")
		}
	}
	return ""
}

func (e Env) variable(name string) string {
	for _, pair := range e.Environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// demonstrate runs the demo if it was asked for. The node that it returns may be nil.
func demonstrate(ctx context.Context, e Env, cluster *embedded.Cluster, cfg upConfig) (*demo, error) {
	if !cfg.Demo {
		return nil, nil
	}
	d, err := startDemo(cluster, cfg)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	said, err := d.show(ctx)
	switch {
	case stopped(ctx, err):
		return d, nil
	case err != nil:
		return d, fmt.Errorf("demo: %w", err)
	}
	if _, err = fmt.Fprint(e.Stdout, said); err == nil {
		err = d.run(ctx, e)
	}
	if stopped(ctx, err) {
		err = nil
	}
	return d, err
}

// wait returns when the cluster shall stop, or has.
func wait(ctx context.Context, e Env, cluster *embedded.Cluster) {
	if ctx.Err() == nil {
		fmt.Fprint(e.Stdout, "\nCtrl-C stops it.\n")
	}
	select {
	case <-ctx.Done():
		fmt.Fprintf(e.Stdout, "\nStopping (%v): calls in flight may finish.\n", context.Cause(ctx))
	case <-cluster.Done():
	}
}

func (c upConfig) options(e Env) embedded.Options {
	o := embedded.Options{
		Gateways: c.Gateways, Host: c.Host, Ports: embedded.Ports{HTTP: c.HTTPPort, GRPC: c.GRPCPort, Admin: c.AdminPort},
		Orchestrators: c.Orchestrators, Knowledge: c.Knowledge, TikaURL: c.TikaURL,
		Embeddings: knowledge.Embeddings{Kind: c.Embeddings, Model: c.EmbeddingModel, BaseURL: c.EmbeddingURL, Key: c.EmbeddingKey},
		DataDir:    c.DataDir, StorageURL: c.StorageURL, Model: c.model(),
		NATSURL: c.NATSURL, RedisURL: c.RedisURL, MCPStdio: c.MCPStdio, Auth: c.Auth, Pages: c.Pages, Services: c.Services, Trace: c.Trace,
		Version: e.build(), Logger: e.logger(c.Log),
		Gateway:      func(_ int, g *gateway.Config) { g.Limits = c.Limits },
		Orchestrator: func(_ int, o *orchestrator.Config) { o.Addresses.Allow, o.OAuth = c.UserAddresses, c.OAuth },
	}
	if c.GRPCPort != 0 {
		o.RegistryPorts = embedded.Ports{GRPC: c.usual(9090), Admin: c.usual(9190)}
		if c.Knowledge == 1 {
			o.KnowledgePorts = embedded.Ports{GRPC: c.usual(9092), Admin: c.usual(9192)}
		}
		if c.Orchestrators == 1 {
			o.OrchestratorPorts = embedded.Ports{GRPC: c.usual(9091), Admin: c.usual(9191)}
		}
	}
	return o
}

func (c upConfig) model() embedded.Model {
	return embedded.Model{
		Offline: c.LLM == "offline", BaseURL: c.OpenAIURL, Key: c.OpenAIKey, Name: c.OpenAIModel, Window: c.OpenAIWindow,
	}
}

// usual returns the default port of another pod, if it is free and no gateway is to have it; else 0, for any free one.
func (c upConfig) usual(port int) int {
	for _, first := range []int{c.HTTPPort, c.GRPCPort, c.AdminPort} {
		if port >= first && port < first+c.Gateways {
			return 0
		}
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return 0
	}
	_ = l.Close() // it was only a question
	return port
}

// portHint names the flag behind a port that cannot be had.
func portHint(err error) error {
	var p *embedded.PortError
	if !errors.As(err, &p) {
		return err
	}
	flag := map[embedded.Role]string{
		embedded.RoleHTTP: "--http-port", embedded.RoleGRPC: "--grpc-port", embedded.RoleAdmin: "--admin-port",
	}[p.Role]
	if errors.Is(p, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d, the %s port of %s, is in use: stop what listens there, or choose others with %s (0 takes free ones)",
			p.Port, p.Role, p.Pod, flag)
	}
	return fmt.Errorf("%w; choose others with %s", p, flag)
}
