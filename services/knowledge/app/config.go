package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

// Values of Config.Embeddings.
const (
	EmbeddingsOpenAI  = "openai"
	EmbeddingsOffline = "offline"
)

// Config is a knowledge service's configuration. A program that builds one in code fills the rest with [config.Defaults].
type Config struct {
	PodName   string `conf:"pod-name" env:"POD_NAME" help:"name of this pod in logs; if empty, the host's name"`
	GRPCAddr  string `conf:"grpc-addr" env:"GRPC_ADDR" default:":9092" help:"address of KnowledgeService"`
	AdminAddr string `conf:"admin-addr" env:"ADMIN_ADDR" default:":9192" help:"address of health, metrics and profiles"`

	DatabaseURL config.Secret   `conf:"database-url" env:"DATABASE_URL" help:"where documents and their index are kept: postgres://user:password@host/database, best with the extension pgvector, or sqlite:///absolute/path/file.db; required"`
	NATSURL     config.Secret   `conf:"nats-url" env:"NATS_URL" default:"nats://127.0.0.1:4222" help:"bus, on which web clients hear of their documents, as nats://user:password@host:port where it has users; empty for none"`
	NATSCreds   string          `conf:"nats-creds" env:"NATS_CREDS" help:"NATS credentials file"`
	NATSTLS     tlsfiles.Config `conf:"nats-tls" env:"NATS_TLS_"`

	Embeddings  Embeddings
	TikaURL     string        `conf:"tika-url" env:"TIKA_URL" help:"Apache Tika server that reads doc, xls, ppt and scanned pages, such as http://tika:9998; empty for none"`
	Workers     int           `conf:"workers" env:"WORKERS" default:"2" help:"how many documents this pod processes at once"`
	ClaimTTL    time.Duration `conf:"claim-ttl" env:"CLAIM_TTL" default:"10s" help:"after what time another pod takes the document of a pod that died"`
	ParseTime   time.Duration `conf:"parse-time" env:"PARSE_TIME" default:"1m" help:"how long reading one document may take"`
	ParseMemory config.Size   `conf:"parse-memory" env:"PARSE_MEMORY" default:"1GiB" help:"how much memory reading one PDF or Office document may take, in a process of its own"`
	MaxFile     config.Size   `conf:"max-document" env:"MAX_DOCUMENT" default:"50MiB" help:"largest document"`

	Limits Limits `conf:"limit" env:"LIMIT_"`

	DrainDelay  time.Duration `conf:"drain-delay" env:"DRAIN_DELAY" default:"3s" help:"how long the pod keeps serving at shutdown after it reports not ready, so that clients notice"`
	StopTimeout time.Duration `conf:"stop-timeout" env:"STOP_TIMEOUT" default:"15s" help:"how long requests and workers may take at shutdown, after drain-delay"`

	AdminDoor obs.AdminDoor
	Services  auth.ServiceAuth
	Log       obs.LogConfig
	Trace     obs.TraceConfig
}

// Embeddings say what makes vectors.
type Embeddings struct {
	Kind    string        `conf:"embeddings" env:"EMBEDDINGS" default:"openai" help:"what makes vectors: openai, any OpenAI-compatible API, or offline, a small embedder of this process that knows words and no meaning"`
	Model   string        `conf:"embedding-model" env:"EMBEDDING_MODEL" default:"text-embedding-3-small" help:"model of the embeddings; documents of another one are embedded anew"`
	BaseURL string        `conf:"embedding-base-url" env:"EMBEDDING_BASE_URL" help:"OpenAI-compatible endpoint of the embeddings; that of the model where empty"`
	Key     config.Secret `conf:"embedding-api-key" env:"EMBEDDING_API_KEY" help:"key of that endpoint; that of the model where both are empty"`
	// The model's own, for what is left empty above.
	ModelURL string        `conf:"openai-base-url" env:"OPENAI_BASE_URL" help:"OpenAI-compatible endpoint of the model; that of OpenAI where empty"`
	ModelKey config.Secret `conf:"openai-api-key" env:"OPENAI_API_KEY" help:"key of the model"`
	Patience time.Duration `conf:"embedding-patience" env:"EMBEDDING_PATIENCE" default:"10m" help:"how long a document waits for embeddings that are away before it fails"`
}

// Limits are how much one user may keep; 0 is no limit.
type Limits struct {
	Bases     int         `conf:"knowledge-bases" env:"KNOWLEDGE_BASES" default:"1000" help:"knowledge bases of one user; 0 for no limit"`
	Documents int         `conf:"documents" env:"DOCUMENTS" default:"20000" help:"documents of one user; 0 for no limit"`
	Bytes     config.Size `conf:"document-bytes" env:"DOCUMENT_BYTES" default:"10GiB" help:"bytes of one user's documents; 0 for no limit"`
}

// Validate reports what cannot work.
func (c Config) Validate() error {
	var problems []error
	if c.DatabaseURL == "" {
		problems = append(problems, errors.New("database-url is missing"))
	}
	if k := c.Embeddings.Kind; k != EmbeddingsOpenAI && k != EmbeddingsOffline {
		problems = append(problems, fmt.Errorf("embeddings must be %s or %s", EmbeddingsOpenAI, EmbeddingsOffline))
	}
	if c.Workers < 0 || c.MaxFile <= 0 || c.ParseTime <= 0 || c.ParseMemory < 64*config.MiB {
		problems = append(problems, errors.New("workers must not be negative, max-document and parse-time must be positive, and parse-memory at least 64MiB"))
	}
	if c.ClaimTTL < time.Second || c.Embeddings.Patience <= 0 {
		problems = append(problems, errors.New("claim-ttl must be at least 1s, and embedding-patience positive"))
	}
	if c.DrainDelay < 0 || c.Limits.Bases < 0 || c.Limits.Documents < 0 || c.Limits.Bytes < 0 {
		problems = append(problems, errors.New("drain-delay and limits must not be negative"))
	}
	return errors.Join(problems...)
}
