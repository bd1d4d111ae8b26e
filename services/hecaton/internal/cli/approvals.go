package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/chat"
)

// approvalsConfig is whose approval settings to show or change.
type approvalsConfig struct {
	Server []string      `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"gateways' URLs; where one cannot be reached the next one is asked"`
	User   string        `conf:"user,required" env:"HECATON_USER" help:"whose settings"`
	Token  config.Secret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user"`
}

// Validate reports what cannot work.
func (c approvalsConfig) Validate() error { return chatConfig{Server: c.Server}.Validate() }

// meanings says what each mode means to the person who chooses it.
var meanings = map[string]string{
	"use_allowlist": "what is on your allow-list runs, and all else asks you first",
	"ask_everytime": "every call of an agent asks you first",
	"run_everything": "NOTHING asks you. Whatever an agent decides to do runs at once on your browsers and desktops: commands, the deletion\n" +
		"of files, clicks that pay. That holds where a web page, a document or another tool's answer has talked the agent into it, too",
}

// approvals shows which calls ask, and changes the mode where one is named.
func approvals(ctx context.Context, e Env) error {
	var cfg approvalsConfig
	var words []string
	if err := e.load("approvals", &cfg, &words); err != nil {
		return err
	}
	client := &chat.Client{Servers: cfg.Server, User: cfg.User, Token: cfg.Token}
	if len(words) > 0 && decisions[words[0]] != "" || len(words) == 1 && words[0] == "waiting" {
		return decideCalls(ctx, e, client, words)
	}
	now, err := client.Settings(ctx)
	if err != nil {
		return err
	}
	switch {
	case len(words) > 1 || len(words) == 1 && meanings[words[0]] == "":
		return usage("one mode may be named (use_allowlist, ask_everytime, run_everything), or waiting, approve ID, reject ID")
	case len(words) == 1:
		fmt.Fprintf(e.Stdout, "%s: %s.\n", words[0], meanings[words[0]])
		if words[0] == "run_everything" && !confirmed(ctx, e) {
			fmt.Fprintf(e.Stdout, "Nothing was changed: the mode is %s.\n", chat.Safe(now.Mode))
			return nil
		}
		now.Mode = words[0]
		return client.Settle(ctx, now)
	}
	_, err = fmt.Fprintf(e.Stdout, "%s: %s.\n\nOn the allow-list: %s\n", chat.Safe(now.Mode), meanings[now.Mode], chat.Safe(strings.Join(now.Allowlist, ", ")))
	return err
}

// decisions are the words for what becomes of a call that waits.
var decisions = map[string]string{"approve": "approved", "reject": "rejected"}

// decideCalls shows the calls of MCP clients that wait for the user, or decides about one.
func decideCalls(ctx context.Context, e Env, client *chat.Client, words []string) error {
	if words[0] != "waiting" {
		if len(words) != 2 {
			return usage("%s needs the id of one call, as `hecaton approvals waiting` shows it", words[0])
		}
		return client.Decide(ctx, words[1], decisions[words[0]])
	}
	list, err := client.Approvals(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Stdout, "No call waits for you.")
	}
	for _, a := range list {
		more := ""
		if a.Cut {
			more = " …"
		}
		fmt.Fprintf(e.Stdout, "%s  %s %s%s\n    on %s: %s\n", chat.Safe(a.ID), chat.Safe(a.Tool), chat.Safe(a.Args), more, chat.Safe(orService(a.Node)), chat.Safe(a.Why))
	}
	return nil
}

func orService(node string) string {
	if node == "" {
		return "a service"
	}
	return node
}

// confirmed asks the person at the terminal. Without a terminal nobody can be asked, and naming the mode is enough.
func confirmed(ctx context.Context, e Env) bool {
	if !e.Interactive {
		return true
	}
	input := chat.NewInput(e.Stdin, true)
	defer input.Close()
	fmt.Fprint(e.Stdout, "Type run_everything again to choose it: ")
	line, err := input.Line(ctx)
	return err == nil && line == "run_everything"
}
