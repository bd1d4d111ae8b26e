package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// taskConfig is whose scheduled tasks to show or change, and with add what the new one is.
type taskConfig struct {
	Server string        `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"a gateway's URL"`
	User   string        `conf:"user,required" env:"HECATON_USER" help:"whose tasks"`
	Token  config.Secret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user"`

	Title    string   `conf:"title" help:"with add: its name for people; the prompt's beginning where it is left out"`
	At       string   `conf:"at" help:"with add: the time of the day, HH:MM"`
	On       string   `conf:"on" help:"with add: the day, YYYY-MM-DD, of a task that fires once"`
	Weekdays []string `conf:"weekdays" help:"with add: mon,tue,… for a weekly task"`
	Day      int      `conf:"day" help:"with add: 1 to 31 for a monthly task"`
	Cron     string   `conf:"cron" help:"with add: five fields of cron, in place of the others"`
	Zone     string   `conf:"timezone" env:"TZ" default:"UTC" help:"with add: the time zone, such as Europe/Berlin"`
	Confirm  bool     `conf:"confirm" help:"with add: every call of a tool waits for you"`
}

// taskView is a task as the API shows it.
type taskView struct {
	ID     string     `json:"id"`
	Title  string     `json:"title"`
	Prompt string     `json:"prompt"`
	Status string     `json:"status"`
	Zone   string     `json:"timezone"`
	Next   *time.Time `json:"next_run_at"`
}

// task shows and changes the scheduled tasks of a user.
func task(ctx context.Context, e Env) error {
	var cfg taskConfig
	var words []string
	if err := e.load("task", &cfg, &words); err != nil {
		return err
	}
	c := tasks{userClient{restClient{cfg.Server, cfg.User, cfg.Token}, e}, cfg}
	switch {
	case len(words) == 0 || words[0] == "list" && len(words) == 1:
		return c.list(ctx)
	case words[0] == "add" && len(words) > 1:
		return c.add(ctx, strings.Join(words[1:], " "))
	case words[0] == "runs" && len(words) == 2:
		return c.runs(ctx, words[1])
	case words[0] == "remove" && len(words) == 2:
		return c.remove(ctx, words[1])
	case len(words) == 2 && (words[0] == "pause" || words[0] == "resume" || words[0] == "run" || words[0] == "cancel"):
		return c.change(ctx, words[1], words[0])
	}
	return usage("%q: give list, add PROMPT, runs ID, run ID, pause ID, resume ID, cancel ID or remove ID", words)
}

// tasks does what the words ask for.
type tasks struct {
	userClient
	cfg taskConfig
}

func taskPath(id, what string) string { return "/api/scheduled-task/" + url.PathEscape(id) + what }

func (c tasks) list(ctx context.Context) error {
	table := tabwriter.NewWriter(c.e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATUS\tNEXT\tTITLE")
	for cursor := ""; ; {
		var page struct {
			Tasks []taskView `json:"tasks"`
			Next  string     `json:"next_cursor"`
		}
		if err := c.get(ctx, restRequest{method: http.MethodGet, path: "/api/scheduled-task", query: url.Values{"limit": {"200"}, "cursor": {cursor}}}, &page); err != nil {
			return err
		}
		for _, t := range page.Tasks {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable(t.ID), printable(t.Status), t.next(), shortened(t.Title, 60))
		}
		if cursor = page.Next; cursor == "" {
			return table.Flush()
		}
	}
}

// next is when a task fires next, by its own clock where that is known here.
func (t taskView) next() string {
	if t.Next == nil {
		return "-"
	}
	if zone, err := time.LoadLocation(t.Zone); err == nil {
		return t.Next.In(zone).Format("2006-01-02 15:04 MST")
	}
	return t.Next.Format(time.RFC3339)
}

// add makes a task of what the flags say about its times.
func (c tasks) add(ctx context.Context, prompt string) error {
	repeat, weekdays, err := c.cfg.repeat()
	if err != nil {
		return err
	}
	title := c.cfg.Title
	if title == "" {
		title = shortened(prompt, 60)
	}
	mode := "auto"
	if c.cfg.Confirm {
		mode = "confirm"
	}
	body, err := json.Marshal(map[string]any{
		"title": title, "prompt": prompt, "repeat_type": repeat, "scheduled_time": c.cfg.At, "scheduled_date": c.cfg.On, "weekdays": weekdays,
		"day_of_month": c.cfg.Day, "cron": c.cfg.Cron, "timezone": c.cfg.Zone, "run_mode": mode,
	})
	if err != nil {
		return err
	}
	var t taskView
	if err := c.get(ctx, restRequest{method: http.MethodPost, path: "/api/scheduled-task", body: body}, &t); err != nil {
		return err
	}
	c.say("added %s, which fires next at %s", t.ID, t.next())
	return nil
}

// repeat is what the flags say about when a task fires.
func (c taskConfig) repeat() (kind string, weekdays []int, err error) {
	switch {
	case c.Cron != "":
		return "cron", nil, nil
	case c.At == "":
		return "", nil, usage("add needs --at=HH:MM, or --cron")
	case c.Day != 0:
		return "monthly", nil, nil
	case len(c.Weekdays) > 0:
		for _, name := range c.Weekdays {
			at := strings.Index("sunmontuewedthufrisat", strings.ToLower(name))
			if len(name) != 3 || at < 0 || at%3 != 0 {
				return "", nil, usage("--weekdays has %q, must be of sun, mon, tue, wed, thu, fri, sat", name)
			}
			weekdays = append(weekdays, at/3)
		}
		return "weekly", weekdays, nil
	case c.On != "":
		return "none", nil, nil
	}
	return "daily", nil, nil
}

func (c tasks) runs(ctx context.Context, id string) error {
	var page struct {
		Runs []struct {
			FiredFor time.Time `json:"fired_for"`
			Status   string    `json:"status"`
			Session  string    `json:"session_id"`
			Error    string    `json:"error"`
		} `json:"runs"`
	}
	if err := c.get(ctx, restRequest{method: http.MethodGet, path: taskPath(id, "/runs"), query: url.Values{"limit": {"200"}}}, &page); err != nil {
		return err
	}
	table := tabwriter.NewWriter(c.e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "FIRED FOR\tSTATUS\tSESSION\tERROR")
	for _, r := range page.Runs {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.FiredFor.UTC().Format(time.RFC3339), printable(r.Status), printable(r.Session), shortened(r.Error, 80))
	}
	return table.Flush()
}

func (c tasks) change(ctx context.Context, id, what string) error {
	var t taskView // or a run, which has a status as well
	if err := c.get(ctx, restRequest{method: http.MethodPost, path: taskPath(id, "/"+what), body: []byte("{}")}, &t); err != nil {
		return err
	}
	c.say("%s: %s", id, t.Status)
	return nil
}

func (c tasks) remove(ctx context.Context, id string) error {
	if _, err := c.do(ctx, http.MethodDelete, taskPath(id, ""), nil); err != nil {
		return err
	}
	c.say("removed %s", id)
	return nil
}
