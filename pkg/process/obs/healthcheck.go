package obs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// HealthcheckCommand is the first argument with which a program asks how the one beside it is, instead of serving.
const HealthcheckCommand = "healthcheck"

// healthcheckTimeout leaves /readyz the time it takes at most.
const healthcheckTimeout = checkTimeout + time.Second

// Healthcheck is how a container without a shell asks its own program whether it is well: it reads the configuration T as
// the program does, from the same sources, and asks /readyz, or with --live /livez, of the admin port that adminAddr finds
// in it. The error says what fails.
func Healthcheck[T any](ctx context.Context, src config.Sources, adminAddr func(*T) string) error {
	var cfg struct {
		Program T
		Live    bool `conf:"live" help:"check only that the process is alive, not that it is ready"`
	}
	src.Program += " " + HealthcheckCommand
	if err := config.Load(&cfg, src); err != nil {
		return err
	}
	path := "/readyz"
	if cfg.Live {
		path = "/livez"
	}
	return probe(ctx, adminAddr(&cfg.Program), path)
}

// probe asks for path on the port that addr listens on.
func probe(ctx context.Context, addr, path string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "0" {
		return fmt.Errorf("admin-addr %q names no port to ask", addr)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "" // all addresses: this machine's own is one of them
	}
	url := "http://" + net.JoinHostPort(cmp.Or(host, "localhost"), port) + path
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	// Without the proxy of the environment: this port is on this machine.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // the status says enough
	return fmt.Errorf("GET %s: %s: %s", path, res.Status, said)
}
