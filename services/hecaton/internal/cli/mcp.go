package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/mcpinstall"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/mcpstdio"
)

// mcpConfig is which endpoint to use, as whom; and what to write into a client's configuration.
type mcpConfig struct {
	Server string            `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"any gateway's URL; a query such as ?readonly=true narrows the tools"`
	User   string            `conf:"user" env:"HECATON_USER" help:"whose nodes, in trusted mode; a token says it otherwise"`
	Token  config.LiveSecret `conf:"token" env:"HECATON_TOKEN" help:"a token of the user; --token-file is read again for each request"`

	Write bool   `conf:"write" help:"install: write the client's configuration instead of printing it"`
	File  string `conf:"file" help:"install: the configuration's file, where it is not the usual one"`
	Name  string `conf:"name" default:"hecaton" help:"install: what the client calls the server"`
	HTTP  bool   `conf:"http" help:"install: let the client call the gateway itself. Its configuration has the token then, if there is one"`

	Log obs.LogConfig
}

// Validate reports what cannot work.
func (c mcpConfig) Validate() error {
	_, err := c.endpoint()
	if c.User != "" {
		err = errors.Join(err, ids.Check("--user", c.User))
	}
	if c.Name == "" {
		err = errors.Join(err, errors.New("--name must not be empty"))
	}
	return err
}

// endpoint is the URL of the MCP endpoint.
func (c mcpConfig) endpoint() (*url.URL, error) {
	u, err := url.Parse(c.Server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--server %q must be a URL such as http://127.0.0.1:8080", c.Server)
	}
	if !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/mcp") {
		u = u.JoinPath("mcp")
	}
	return u, nil
}

func runMCP(ctx context.Context, e Env) error {
	cfg := mcpConfig{Log: quiet}
	var words []string
	if err := e.load("mcp", &cfg, &words); err != nil {
		return err
	}
	switch {
	case len(words) == 0:
		return cfg.serve(ctx, e)
	case len(words) == 2 && words[0] == "install":
		return cfg.install(e, words[1])
	}
	return usage("%q: give nothing, or install and the name of a client", words)
}

// serve speaks MCP on standard input and output, and says nothing else there.
func (c mcpConfig) serve(ctx context.Context, e Env) error {
	u, err := c.endpoint()
	if err != nil {
		return err
	}
	user := c.User
	if token, err := c.Token.Get(); err != nil {
		return err
	} else if token != "" {
		user = "" // the token's
	}
	return mcpstdio.Run(ctx, mcpstdio.Options{
		URL: u.String(), User: user, Token: c.Token.Get, In: e.Stdin, Out: e.Stdout, Logger: e.logger(c.Log),
	})
}

// install prints or writes the configuration of a client.
func (c mcpConfig) install(e Env, client string) error {
	to, err := mcpinstall.Find(client)
	if err != nil {
		return &usageError{err}
	}
	entry, err := c.entry()
	if err != nil {
		return err
	}
	file := c.File
	if file == "" {
		home, err := e.home()
		if err != nil {
			return err
		}
		file = to.File(home)
	}
	if !c.Write {
		fmt.Fprintf(e.Stderr, "%s reads this from %s; --write writes it there:\n", to.Title, file)
		_, err := fmt.Fprint(e.Stdout, to.Text(c.Name, entry))
		return err
	}
	changed, err := to.Write(file, c.Name, entry)
	switch {
	case err != nil:
		return err
	case !changed:
		fmt.Fprintf(e.Stdout, "%s says so already\n", file)
	default:
		fmt.Fprintf(e.Stdout, "wrote %s; start %s anew\n", file, to.Title)
	}
	return nil
}

// entry is what the client is told. A program gets no token, but the file that has it.
func (c mcpConfig) entry() (mcpinstall.Entry, error) {
	u, err := c.endpoint()
	if err != nil {
		return mcpinstall.Entry{}, err
	}
	token, err := c.Token.Get()
	if err != nil {
		return mcpinstall.Entry{}, err
	}
	if c.HTTP {
		headers := map[string]string{}
		switch {
		case token != "":
			headers["Authorization"] = "Bearer " + token.Reveal()
		case c.User != "":
			headers["X-User-Id"] = c.User
		}
		return mcpinstall.Endpoint(u.String(), headers), nil
	}
	program, err := os.Executable()
	if err != nil {
		return mcpinstall.Entry{}, err
	}
	args := []string{"mcp", "--server", c.Server}
	switch file := c.Token.File(); {
	case file != "":
		if file, err = filepath.Abs(file); err != nil {
			return mcpinstall.Entry{}, err
		}
		args = append(args, "--token-file", file)
	case token != "":
		return mcpinstall.Entry{}, usage("give the token in a file, with --token-file: others could read it in the client's configuration")
	case c.User != "":
		args = append(args, "--user", c.User)
	}
	return mcpinstall.Program(program, args...), nil
}

// home is the user's directory.
func (e Env) home() (string, error) {
	for _, v := range e.Environ {
		if dir, ok := strings.CutPrefix(v, "HOME="); ok && filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	return os.UserHomeDir()
}
