package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	knowledge "github.com/hecaton-dev/hecaton/services/knowledge/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// Env is what a command is given.
type Env struct {
	Program        string    // as it was called; empty means hecaton
	Args           []string  // without the program's name
	Environ        []string  // as [os.Environ]
	Stdin          io.Reader // nil for none
	Stdout, Stderr io.Writer
	Version        string
	// Interactive says that a person types Stdin and sees Stdout.
	Interactive bool
	// Own says that the process runs this command only: the command may restart the process, and hide its memory from
	// others.
	Own bool
	// Signals returns the signals that end a program, which then no longer end ctx; nil if they only end ctx.
	Signals func() (signals <-chan os.Signal, stop func())
}

func (e Env) program() string {
	if e.Program == "" {
		return "hecaton"
	}
	return e.Program
}

// command is one word after "hecaton".
type command struct {
	name, args, summary string
	run                 func(ctx context.Context, e Env) error
}

func commands() []command {
	return []command{
		{"up", "", "run a cluster in this process", up},
		{"node", "", "offer this machine's tools to an agent, as a desktop node", runNode},
		{"call", "TOOL [JSON | key=value ...]", "call a tool", call},
		{"chat", "", "talk to an agent that uses a user's nodes", runChat},
		{"approvals", "[MODE | waiting | approve ID | reject ID]", "show which calls of agents ask a user, or choose the mode; decide about calls of MCP clients", approvals},
		{"skill", "list | add PATH | show NAME | remove NAME | enable NAME | disable NAME | sync", "manage the texts that tell a user's agents how work is done", skill},
		{"kb", "list [BASE] | add BASE FILE ... | search BASE QUERY | remove BASE", "show, fill and search a user's knowledge bases", kb},
		{"memory", "list | add TEXT | search WORDS | profile | forget ID | forget-all SCOPE", "show and change what a user's agents remember", memory},
		{"task", "list | add PROMPT | runs ID | run ID | pause ID | resume ID | cancel ID | remove ID", "have a user's agents do something at set times", task},
		{"nodes", "", "list a user's nodes", listNodes},
		{"watch", "", "follow a user's nodes as they come and go", watch},
		{"token", "[list | revoke ID]", "make a token of a user: a JWT, or one with scopes that can be revoked", token},
		{"mcp", "[install CLIENT]", "be an MCP server that passes everything to a gateway, or write a client's configuration", runMCP},
		{"drain", "", "empty gateways before they are stopped", drain},
		{"bench", "", "put a cluster under load and say what became of every call", runBench},
		{"gateway", "", "run one gateway alone", alone(gateway.Program)},
		{"node-registry", "", "run one node-registry alone", alone(registry.Program)},
		{"agent-orchestrator", "", "run one agent-orchestrator alone", alone(orchestrator.Program)},
		{"knowledge", "", "run one knowledge service alone", alone(knowledge.Program)},
		{"healthcheck", "", "fail unless a service on this machine is ready", healthcheck},
		{"version", "", "say which build this is", printVersion},
	}
}

// Run runs the command that the arguments name, and returns the exit code. It stops when ctx ends.
func Run(ctx context.Context, e Env) int {
	if e.Stdin == nil {
		e.Stdin = strings.NewReader("")
	}
	name, rest := "help", []string(nil)
	if len(e.Args) > 0 {
		name, rest = e.Args[0], e.Args[1:]
	}
	if name == "help" && len(rest) > 0 {
		name, rest = rest[0], []string{"--help"}
	}
	if name == "help" || name == "--help" || name == "-h" {
		return e.exit("hecaton", printHelp(e.Stdout))
	}
	for _, c := range commands() {
		if c.name == name {
			e.Args = rest
			return e.exit("hecaton "+name, c.run(ctx, e))
		}
	}
	return e.exit("hecaton", usage("there is no command %q; \"hecaton help\" lists them", name))
}

func printHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Usage: hecaton COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-20s %s\n", c.name, c.summary)
	}
	b.WriteString("\n\"hecaton COMMAND --help\" lists the flags of a command, \"make run\" shows a cluster at work.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// load reads the flags and environment of a command into cfg. positional receives the arguments that are not flags; nil if
// none are expected.
func (e Env) load(name string, cfg any, positional *[]string) error {
	program := "hecaton " + name
	for _, c := range commands() {
		if c.name == name && c.args != "" {
			program += " " + c.args
		}
	}
	err := config.Load(cfg, config.Sources{
		Program: program, Args: e.Args, Environ: e.Environ, Positional: positional, Help: e.Stdout, Warn: e.Stderr,
	})
	if err != nil && !errors.Is(err, config.ErrHelp) {
		return &usageError{err}
	}
	return err
}

// logger writes to standard error.
func (e Env) logger(c obs.LogConfig) *slog.Logger { return obs.NewLogger(e.Stderr, c.Level, c.Format) }

// quiet is how a program logs whose output is for people.
var quiet = obs.LogConfig{Level: slog.LevelWarn, Format: obs.Text}
