package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// drainConfig is which gateways to drain, and how.
type drainConfig struct {
	Admin  []string      `conf:"admin,required" env:"HECATON_ADMIN" help:"admin ports of the gateways, http://host:9180, separated by commas"`
	Token  config.Secret `conf:"token" env:"HECATON_ADMIN_TOKEN" help:"ADMIN_TOKEN of the gateways, which they want where this is not their machine"`
	Spread string        `conf:"spread" help:"time over which connections are closed, such as 30s; the gateway's own pace where empty"`
	Wait   bool          `conf:"wait" help:"return when no client is connected any more; several gateways are drained one after the other"`
}

// Validate reports what cannot work.
func (c drainConfig) Validate() error {
	if c.Spread == "" {
		return nil
	}
	if spread, err := time.ParseDuration(c.Spread); err != nil || spread < 0 {
		return fmt.Errorf("--spread is %q, must be a duration such as 30s", c.Spread)
	}
	return nil
}

// drainStatus is what a gateway tells of its drain.
type drainStatus struct {
	State           string    `json:"state"`
	ConnectionsLeft int       `json:"connections_left"`
	CallsOpen       int       `json:"calls_open"`
	Since           time.Time `json:"since"`
	Began           time.Time `json:"began"`
}

func (s drainStatus) String() string {
	if s.State == "drained" {
		return fmt.Sprintf("drained in %s, calls open: %d", s.Since.Sub(s.Began).Round(100*time.Millisecond), s.CallsOpen)
	}
	return fmt.Sprintf("%s, connections left: %d, calls open: %d", printable(s.State), s.ConnectionsLeft, s.CallsOpen)
}

func drain(ctx context.Context, e Env) error {
	var cfg drainConfig
	if err := e.load("drain", &cfg, nil); err != nil {
		return err
	}
	var failed []error
	for _, admin := range cfg.Admin {
		d := drainer{Env: e, token: cfg.Token, admin: strings.TrimSuffix(admin, "/")}
		if !strings.Contains(admin, "://") {
			d.admin = "http://" + d.admin
		}
		if err := d.run(ctx, cfg); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", admin, err))
			if cfg.Wait { // the next one would have to take its nodes
				break
			}
		}
	}
	return errors.Join(failed...)
}

// drainer drains one gateway.
type drainer struct {
	Env
	admin string
	token config.Secret
	said  drainStatus
}

func (d *drainer) run(ctx context.Context, cfg drainConfig) error {
	query := ""
	if cfg.Spread != "" {
		query = "?spread=" + url.QueryEscape(cfg.Spread)
	}
	s, err := d.ask(ctx, http.MethodPost, query)
	if err != nil {
		return err
	}
	d.say(s)
	for cfg.Wait && s.State != "drained" {
		if !sleep.For(ctx, drainLook) {
			return fmt.Errorf("it goes on without being waited for: %w", context.Cause(ctx))
		}
		if s, err = d.ask(ctx, http.MethodGet, ""); err != nil {
			return err
		}
		d.say(s)
	}
	return nil
}

const (
	// drainLook is how often a gateway is asked how far it is.
	drainLook = 200 * time.Millisecond
	// drainTimeout bounds each answer.
	drainTimeout = 10 * time.Second
)

// say tells of what is new.
func (d *drainer) say(s drainStatus) {
	if s != d.said {
		d.said = s
		fmt.Fprintf(d.Stdout, "%s: %s\n", d.admin, s)
	}
}

func (d *drainer) ask(ctx context.Context, method, query string) (s drainStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, d.admin+"/drain"+query, nil)
	if err != nil {
		return s, usage("not an address: %w", err)
	}
	if d.token != "" {
		req.Header.Set("Authorization", "Bearer "+d.token.Reveal())
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return s, err
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted:
	case http.StatusNotFound:
		return s, errors.New("this is no admin port of a gateway: it has no /drain")
	default:
		return s, fmt.Errorf("%s: %s", resp.Status, printable(strings.TrimSpace(string(body))))
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return s, fmt.Errorf("the answer is no status of a drain: %w", err)
	}
	return s, nil
}
