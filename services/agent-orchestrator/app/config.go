package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

// Where the model of requests that name none is.
const (
	LLMOpenAI  = "openai"
	LLMOffline = "offline"
)

// Config is an agent-orchestrator's configuration. A program that builds one in code fills the rest with
// config.Defaults.
type Config struct {
	PodName   string `conf:"pod-name" env:"POD_NAME" help:"name of this pod in logs; if empty, the host's name"`
	GRPCAddr  string `conf:"grpc-addr" env:"GRPC_ADDR" default:":9091" help:"address of AgentService"`
	AdminAddr string `conf:"admin-addr" env:"ADMIN_ADDR" default:":9191" help:"address of health, metrics and profiles"`

	DatabaseURL   config.Secret   `conf:"database-url,required" env:"DATABASE_URL" help:"sessions and their runs: postgres://user:password@host/database, or sqlite:///path/file.db for a single machine"`
	BlobURL       config.Secret   `conf:"blob-url" env:"BLOB_URL" help:"users' files: s3://bucket?region=…, postgres://user:password@host/database, or file:///directory for a single machine; if empty, database-url where that is PostgreSQL"`
	SecretKeys    config.Secret   `conf:"secret-keys,required" env:"SECRET_KEYS" help:"keys that seal users' secrets, each 32 bytes in base64, separated by commas; the first seals, all open"`
	RedisURL      config.Secret   `conf:"redis-url" env:"REDIS_URL" help:"cache of files, as of the node-registry; empty for none"`
	RedisTLS      tlsfiles.Config `conf:"redis-tls" env:"REDIS_TLS_"`
	NATSURL       config.Secret   `conf:"nats-url" env:"NATS_URL" default:"nats://127.0.0.1:4222" help:"bus, one or more addresses separated by commas, as nats://user:password@host:port where the bus has users; empty where this orchestrator is the only one"`
	NATSCreds     string          `conf:"nats-creds" env:"NATS_CREDS" help:"NATS credentials file"`
	NATSTLS       tlsfiles.Config `conf:"nats-tls" env:"NATS_TLS_"`
	Gateways      []string        `conf:"gateways" env:"GATEWAYS" default:"127.0.0.1:9080" help:"ToolService of the gateways: host:port or dns:///host:port; every address of a host is used"`
	KnowledgeAddr string          `conf:"knowledge-addr" env:"KNOWLEDGE_ADDR" default:"127.0.0.1:9092" help:"knowledge services: a gRPC target or addresses separated by commas; empty for none"`

	LLM          string        `conf:"llm" env:"LLM" default:"openai" help:"model of requests that name none: openai, or offline for a small scripted one in this process"`
	OpenAIURL    string        `conf:"openai-base-url" env:"OPENAI_BASE_URL" help:"OpenAI-compatible endpoint; that of OpenAI where only a key is given"`
	OpenAIKey    config.Secret `conf:"openai-api-key" env:"OPENAI_API_KEY" help:"key of the endpoint"`
	OpenAIModel  string        `conf:"openai-model" env:"OPENAI_MODEL" help:"model of requests that name none"`
	OpenAIWindow int           `conf:"openai-context-window" env:"OPENAI_CONTEXT_WINDOW" help:"that model's window in tokens; 0 asks the table of known models"`
	HeadStart    bool          `conf:"llm-head-start" env:"LLM_HEAD_START" help:"ask a run's first question before the run's beginning is stored, where it can be guessed; a wrong guess is cut off, but may be paid for"`
	StallTimeout time.Duration `conf:"llm-stall-timeout" env:"LLM_STALL_TIMEOUT" default:"60s" help:"how long a model may be silent"`

	Addresses netguard.Config `conf:"user-addresses" env:"USER_ADDRESSES_"`
	MCPStdio  bool            `conf:"mcp-stdio" env:"MCP_STDIO" help:"let users start MCP servers as processes of this pod: for a cluster of one person"`

	OAuth oauth.Config

	SMTP config.Secret `conf:"smtp-url" env:"SMTP_URL" help:"mail server for notifications: smtp://user:password@host:587?from=hecaton@example.com&domain=example.com, smtps:// for TLS from the start; domain is of users whose ids are no addresses"`

	ApprovalTTL   time.Duration `conf:"approval-ttl" env:"APPROVAL_TTL" default:"24h" help:"how long a run waits for a decision"`
	LeaseTTL      time.Duration `conf:"lease-ttl" env:"LEASE_TTL" default:"5s" help:"how long after its pod's last sign of life a run is taken over"`
	MaxRuns       int           `conf:"max-runs" env:"MAX_RUNS" default:"2000" help:"runs of this pod at one time"`
	MaxFile       config.Size   `conf:"max-file" env:"MAX_FILE" default:"32MiB" help:"largest file of a user"`
	MaxToolResult config.Size   `conf:"max-tool-result" env:"MAX_TOOL_RESULT" default:"64KiB" help:"how much of a tool's result a model is told"`
	ToolTokens    int           `conf:"tool-tokens" env:"TOOL_TOKENS" default:"16384" help:"how many tokens the definitions of tools may take in one question to a model; the agent searches for the rest"`
	DrainDelay    time.Duration `conf:"drain-delay" env:"DRAIN_DELAY" default:"3s" help:"how long the pod keeps serving at shutdown after it reports not ready, so that clients notice"`
	StopTimeout   time.Duration `conf:"stop-timeout" env:"STOP_TIMEOUT" default:"20s" help:"how long requests may take at shutdown, after drain-delay"`

	Limits Limits `conf:"limit" env:"LIMIT_"`

	AdminDoor obs.AdminDoor
	Services  auth.ServiceAuth
	Log       obs.LogConfig
	Trace     obs.TraceConfig
}

// Limits are what one user may have. 0 means no limit.
type Limits struct {
	Runs      int         `conf:"runs" env:"RUNS" default:"64" help:"runs of one user that are active at one time, on all pods together; 0 for no limit, here as in the others"`
	Files     int         `conf:"files" env:"FILES" default:"2000" help:"files in one user's workspace"`
	FileBytes config.Size `conf:"file-bytes" env:"FILE_BYTES" default:"128MiB" help:"bytes of all files in one user's workspace"`
}

// Validate reports what cannot work.
func (l Limits) Validate() error {
	if l.Runs < 0 || l.Files < 0 {
		return errors.New("limit-runs and limit-files must not be negative; 0 is no limit")
	}
	return nil
}

// Validate reports what cannot work.
func (c Config) Validate() error {
	var problems []error
	positive := func(name string, value time.Duration) {
		if value <= 0 {
			problems = append(problems, fmt.Errorf("%s must be positive", name))
		}
	}
	positive("stop-timeout", c.StopTimeout)
	if c.DrainDelay < 0 {
		problems = append(problems, errors.New("drain-delay must not be negative"))
	}
	positive("llm-stall-timeout", c.StallTimeout)
	positive("approval-ttl", c.ApprovalTTL)
	if c.LeaseTTL < 100*time.Millisecond {
		problems = append(problems, errors.New("lease-ttl must be at least 100ms"))
	}
	if c.MaxRuns < 1 {
		problems = append(problems, errors.New("max-runs must be at least 1"))
	}
	if c.MaxToolResult < config.KiB {
		problems = append(problems, errors.New("max-tool-result must be at least 1KiB"))
	}
	if c.MaxFile < config.KiB {
		problems = append(problems, errors.New("max-file must be at least 1KiB"))
	}
	if c.ToolTokens < 2048 {
		problems = append(problems, errors.New("tool-tokens must be at least 2048"))
	}
	if c.OpenAIWindow < 0 {
		problems = append(problems, errors.New("openai-context-window must not be negative"))
	}
	if c.LLM != LLMOpenAI && c.LLM != LLMOffline {
		problems = append(problems, fmt.Errorf("llm must be %s or %s", LLMOpenAI, LLMOffline))
	}
	for name, value := range map[string]config.Secret{"database-url": c.DatabaseURL, "blob-url": c.files(), "secret-keys": c.SecretKeys} {
		if value == "" {
			problems = append(problems, fmt.Errorf("%s is missing", name))
		}
	}
	return errors.Join(problems...)
}

// files is where users' files are: without a storage of their own, in PostgreSQL beside the runs.
func (c Config) files() config.Secret {
	if c.BlobURL == "" && strings.HasPrefix(c.DatabaseURL.Reveal(), "postgres") {
		return c.DatabaseURL
	}
	return c.BlobURL
}
