package observe_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	dashboard = "../../../deploy/grafana/hecaton.json"
	alerts    = "../../../deploy/alerts/hecaton.yaml"
)

// named are the metrics of ours in a text, comments left out.
func named(text string) []string {
	text = regexp.MustCompile(`(?m)^\s*#.*$`).ReplaceAllString(text, "")
	found := regexp.MustCompile(`\bhecaton_[a-z_]+`).FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// A dashboard or an alert that uses a metric which does not exist would stay empty, or never fire.
func TestDashboardAndAlertsReadMetricsThatAreThere(t *testing.T) {
	t.Parallel()
	c := worked(t)
	there := map[string]bool{}
	for _, admin := range admins(c) {
		for name := range families(t, admin) {
			there[name] = true
		}
	}
	for _, file := range []string{dashboard, alerts} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := named(string(text))
		if len(names) < 10 {
			t.Errorf("%s reads %v", file, names)
		}
		for _, name := range names {
			family := name
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				if base, ok := strings.CutSuffix(name, suffix); ok && there[base] {
					family = base
				}
			}
			if !there[family] {
				t.Errorf("%s reads %s, which no pod has", file, name)
			}
		}
	}
}

// Every metric of ours is on the dashboard, so that it is known by those who would look for it there.
func TestEveryMetricIsOnTheDashboard(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	c := worked(t)
	for service, admin := range admins(c) {
		for _, name := range slices.Sorted(maps.Keys(families(t, admin))) {
			if strings.HasPrefix(name, "hecaton_") && !strings.Contains(string(text), name) {
				t.Errorf("the dashboard does not show %s of a %s", name, service)
			}
		}
	}
}

// board is a dashboard, as far as it matters here.
type board struct {
	UID, Title string
	Templating struct {
		List []struct{ Name, Type string }
	}
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct {
			Datasource struct{ UID string }
			Exemplar   bool
			Expr       string
		}
	}
}

// The dashboard can be imported anywhere: its panels ask the data source that is chosen, each has a place of its own, and
// those of latencies show exemplars.
func TestDashboardCanBeImported(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var board board
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.UID == "" || board.Title == "" || len(board.Templating.List) == 0 || board.Templating.List[0].Type != "datasource" {
		t.Errorf("%s: %+v", board.Title, board.Templating)
	}
	ids, places, rows, exemplars := map[int]bool{}, map[[2]int]bool{}, []string{}, 0
	for _, p := range board.Panels {
		place := [2]int{p.GridPos.X, p.GridPos.Y}
		if ids[p.ID] || places[place] || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %q is where another is", p.Title)
		}
		ids[p.ID], places[place] = true, true
		if p.Type == "row" {
			rows = append(rows, p.Title)
		} else if len(p.Targets) == 0 {
			t.Errorf("panel %q asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			if target.Datasource.UID != "${datasource}" || target.Expr == "" {
				t.Errorf("panel %q asks %+v", p.Title, target)
			}
			if target.Exemplar {
				exemplars++
			}
		}
	}
	if want := []string{"Now", "Connections", "Calls", "Latency", "Drain", "Presence", "Agents", "Dependencies"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q", rows)
	}
	if exemplars == 0 {
		t.Error("no panel shows exemplars")
	}
	board.parses(t)
}

// parses has Prometheus read every query, where its tool is.
func (b *board) parses(t *testing.T) {
	t.Helper()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		return
	}
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for _, p := range b.Panels {
		for _, target := range p.Targets {
			expr := strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
			rules = append(rules, rule{"panel:" + strconv.Itoa(p.ID) + ":" + strconv.Itoa(len(rules)), expr})
		}
	}
	file, err := json.Marshal(object{"groups": []object{{"name": "panels", "rules": rules}}}) // JSON is YAML
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
}
