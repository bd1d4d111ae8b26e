package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// skillConfig is whose skills to show or change.
type skillConfig struct {
	Server  string        `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"a gateway's URL"`
	User    string        `conf:"user,required" env:"HECATON_USER" help:"whose skills"`
	Token   config.Secret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user"`
	Replace bool          `conf:"replace" help:"with add: take the place of the skill of the same name"`
}

// skillView is a skill as the API shows it.
type skillView struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Version     string   `json:"version"`
	Triggers    []string `json:"triggers"`
	Priority    int      `json:"priority"`
	Enabled     bool     `json:"enabled"`
	Source      string   `json:"source"`
	Content     string   `json:"content"`
	Files       []struct {
		Path string `json:"path"`
		Size int    `json:"size"`
	} `json:"files"`
}

// skill shows and changes the skills of a user.
func skill(ctx context.Context, e Env) error {
	var cfg skillConfig
	var words []string
	if err := e.load("skill", &cfg, &words); err != nil {
		return err
	}
	c := skills{userClient{restClient{cfg.Server, cfg.User, cfg.Token}, e}}
	with := func(do func(context.Context, string) error) error {
		if len(words) != 2 {
			return usage("%s needs one name or path", words[0])
		}
		return do(ctx, words[1])
	}
	switch {
	case len(words) == 0 || words[0] == "list" && len(words) == 1:
		return c.list(ctx)
	case words[0] == "add":
		return with(func(ctx context.Context, path string) error { return c.add(ctx, path, cfg.Replace) })
	case words[0] == "show":
		return with(c.show)
	case words[0] == "remove":
		return with(c.remove)
	case words[0] == "enable", words[0] == "disable":
		return with(func(ctx context.Context, name string) error { return c.set(ctx, name, words[0] == "enable") })
	case words[0] == "sync" && len(words) == 1:
		return c.sync(ctx)
	}
	return usage("%q: give list, add, show, remove, enable, disable or sync", words)
}

// skills does what the words ask for.
type skills struct{ userClient }

func skillPath(name string) string { return "/api/skill/" + url.PathEscape(name) }

func (c skills) list(ctx context.Context) error {
	table := tabwriter.NewWriter(c.e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSOURCE\tENABLED\tPRIORITY\tDESCRIPTION")
	for cursor := ""; ; {
		var page struct {
			Skills []skillView `json:"skills"`
			Next   string      `json:"next_cursor"`
		}
		if err := c.get(ctx, restRequest{method: http.MethodGet, path: "/api/skill", query: url.Values{"limit": {"200"}, "cursor": {cursor}}}, &page); err != nil {
			return err
		}
		for _, s := range page.Skills {
			fmt.Fprintf(table, "%s\t%s\t%t\t%d\t%s\n", printable(s.Name), printable(s.Source), s.Enabled, s.Priority, shortened(s.Description, 80))
		}
		if cursor = page.Next; cursor == "" {
			return table.Flush()
		}
	}
}

// shortened is the beginning of a text that others may have written, on one line.
func shortened(text string, most int) string {
	runes := []rune(text)
	if len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return printable(text)
}

func (c skills) show(ctx context.Context, name string) error {
	var s skillView
	if err := c.get(ctx, restRequest{method: http.MethodGet, path: skillPath(name)}, &s); err != nil {
		return err
	}
	c.say("%s %s (%s, enabled: %t, priority %d)\n%s", s.Name, s.Version, s.Source, s.Enabled, s.Priority, s.Description)
	if len(s.Triggers) > 0 {
		c.say("triggers: %q", s.Triggers)
	}
	c.say("\n%s", s.Content)
	for _, f := range s.Files {
		c.say("%s (%d bytes)", f.Path, f.Size)
	}
	return nil
}

// add uploads a SKILL.md, a zip, or a folder.
func (c skills) add(ctx context.Context, path string, replace bool) error {
	name, data, err := readSkill(path)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		return err
	}
	if _, err := part.Write(data); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	query := url.Values{}
	if replace {
		query.Set("replace", "true")
	}
	var s skillView
	if err := c.get(ctx, restRequest{http.MethodPost, "/api/skill", query, form.FormDataContentType(), body.Bytes()}, &s); err != nil {
		return err
	}
	c.say("added %s: %s", s.Name, s.Description)
	return nil
}

func (c skills) remove(ctx context.Context, name string) error {
	if _, err := c.do(ctx, http.MethodDelete, skillPath(name), nil); err != nil {
		return err
	}
	c.say("removed %s", name)
	return nil
}

func (c skills) set(ctx context.Context, name string, enabled bool) error {
	body, err := json.Marshal(map[string]bool{"enabled": enabled})
	if err != nil {
		return err
	}
	if _, err := c.do(ctx, http.MethodPatch, skillPath(name), body); err != nil {
		return err
	}
	c.say("%s is %s", name, map[bool]string{true: "enabled", false: "disabled"}[enabled])
	return nil
}

func (c skills) sync(ctx context.Context) error {
	var answer struct {
		Loaded int `json:"loaded"`
		Errors []struct {
			Path  string `json:"path"`
			Error string `json:"error"`
		} `json:"errors"`
	}
	if err := c.get(ctx, restRequest{method: http.MethodPost, path: "/api/skill/sync", body: []byte("{}")}, &answer); err != nil {
		return err
	}
	c.say("%d skills read", answer.Loaded)
	for _, p := range answer.Errors {
		c.say("%s: %s", p.Path, p.Error)
	}
	if len(answer.Errors) > 0 {
		return fmt.Errorf("%d are no skills", len(answer.Errors))
	}
	return nil
}
