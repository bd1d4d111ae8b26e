package app

import (
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/obs"
)

// Config is an agent-orchestrator's configuration. A program that builds one in code fills the rest with
// config.Defaults.
type Config struct {
	PodName   string `conf:"pod-name" env:"POD_NAME" help:"name of this pod in logs; the host's name where empty"`
	GRPCAddr  string `conf:"grpc-addr" env:"GRPC_ADDR" default:":9091" help:"address of AgentService"`
	AdminAddr string `conf:"admin-addr" env:"ADMIN_ADDR" default:":9191" help:"address of health, metrics and profiles"`

	Gateways    []string      `conf:"gateways" env:"GATEWAYS" default:"127.0.0.1:9080" help:"ToolService of the gateways: host:port or dns:///host:port; every address of a host is used"`
	StopTimeout time.Duration `conf:"stop-timeout" env:"STOP_TIMEOUT" default:"20s" help:"time that requests have at shutdown"`

	Services auth.ServiceAuth
	Log      obs.LogConfig
	Trace    obs.TraceConfig
}

// Validate reports what cannot work.
func (c Config) Validate() error {
	if c.StopTimeout <= 0 {
		return errors.New("stop-timeout must be positive")
	}
	return nil
}
