package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// memoryConfig is whose memories to show or change.
type memoryConfig struct {
	Server  string        `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"a gateway's URL"`
	User    string        `conf:"user,required" env:"HECATON_USER" help:"whose memories"`
	Token   config.Secret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user"`
	Type    string        `conf:"type" help:"with add and list: preference, fact, skill, habit, event, context, constraint or decision"`
	Scope   string        `conf:"scope" help:"with add, list and search: user, project or session"`
	Project string        `conf:"project" help:"the project, where the scope is project"`
	Session string        `conf:"session" help:"the session, where the scope is session"`
	Yes     bool          `conf:"yes" help:"with forget-all: do it"`
}

// memory shows and changes what a user's agents remember.
func memory(ctx context.Context, e Env) error {
	var cfg memoryConfig
	var words []string
	if err := e.load("memory", &cfg, &words); err != nil {
		return err
	}
	c := memories{userClient{restClient{cfg.Server, cfg.User, cfg.Token}, e}, cfg}
	word, rest := "list", ""
	if len(words) > 0 {
		word, rest = words[0], strings.Join(words[1:], " ")
	}
	switch needs := word != "list" && word != "profile"; {
	case needs && rest == "":
		return usage("%s needs what it is about", word)
	case word == "list":
		return c.list(ctx)
	case word == "add":
		return c.add(ctx, rest)
	case word == "search":
		return c.search(ctx, rest)
	case word == "profile":
		return c.profile(ctx)
	case word == "forget":
		if _, err := c.do(ctx, http.MethodDelete, "/api/memory/"+url.PathEscape(rest), nil); err != nil {
			return err
		}
		c.say("forgotten")
		return nil
	case word == "forget-all":
		return c.forgetAll(ctx, rest)
	}
	return usage("%q: give list, add, search, profile, forget or forget-all", words)
}

// memories does what the words ask for.
type memories struct {
	userClient
	cfg memoryConfig
}

type memoryView struct {
	ID      string  `json:"id"`
	Scope   string  `json:"scope"`
	Type    string  `json:"type"`
	Content string  `json:"content"`
	Score   float64 `json:"score"`
}

func (c memories) show(items []memoryView) error {
	table := tabwriter.NewWriter(c.e.Stdout, 0, 4, 2, ' ', 0)
	for _, m := range items {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable(m.ID), printable(m.Scope), printable(m.Type), shortened(m.Content, 100))
	}
	return table.Flush()
}

func (c memories) list(ctx context.Context) error {
	query := url.Values{"limit": {"200"}, "scope": {c.cfg.Scope}, "type": {c.cfg.Type}, "project_id": {c.cfg.Project}, "session_id": {c.cfg.Session}}
	for {
		var page struct {
			Items []memoryView `json:"items"`
			Next  string       `json:"next_cursor"`
		}
		if err := c.get(ctx, restRequest{method: http.MethodGet, path: "/api/memory", query: query}, &page); err != nil {
			return err
		}
		if err := c.show(page.Items); err != nil || page.Next == "" {
			return err
		}
		query.Set("cursor", page.Next)
	}
}

// post sends what the flags and more say.
func (c memories) post(ctx context.Context, path string, more map[string]any, out any) error {
	for name, value := range map[string]string{"scope": c.cfg.Scope, "project_id": c.cfg.Project, "session_id": c.cfg.Session} {
		if value != "" {
			more[name] = value
		}
	}
	body, err := json.Marshal(more)
	if err != nil {
		return err
	}
	return c.get(ctx, restRequest{method: http.MethodPost, path: path, body: body}, out)
}

func (c memories) add(ctx context.Context, content string) error {
	body := map[string]any{"content": content}
	if c.cfg.Type != "" {
		body["type"] = c.cfg.Type
	}
	var m memoryView
	if err := c.post(ctx, "/api/memory", body, &m); err != nil {
		return err
	}
	c.say("remembered as %s", m.ID)
	return nil
}

func (c memories) search(ctx context.Context, query string) error {
	var found struct {
		Items []memoryView `json:"items"`
	}
	if err := c.post(ctx, "/api/memory/search", map[string]any{"query": query}, &found); err != nil {
		return err
	}
	return c.show(found.Items)
}

func (c memories) profile(ctx context.Context) error {
	var p struct {
		Profile struct {
			User    string `json:"user"`
			Project string `json:"project"`
		} `json:"profile"`
	}
	if err := c.get(ctx, restRequest{method: http.MethodGet, path: "/api/memory/profile", query: url.Values{"project_id": {c.cfg.Project}}}, &p); err != nil {
		return err
	}
	c.say("%s", strings.TrimSpace(p.Profile.User+"\n"+p.Profile.Project))
	return nil
}

func (c memories) forgetAll(ctx context.Context, scope string) error {
	query := url.Values{"scope": {scope}, "project_id": {c.cfg.Project}, "session_id": {c.cfg.Session}}
	if c.cfg.Yes {
		query.Set("confirm", "true")
	}
	var answer struct {
		Deleted int `json:"deleted"`
	}
	if err := c.get(ctx, restRequest{method: http.MethodDelete, path: "/api/memory", query: query}, &answer); err != nil {
		return err
	}
	c.say("%d forgotten", answer.Deleted)
	return nil
}
