package observe_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// worked returns a cluster after calls and runs that went well and others that did not.
func worked(t *testing.T) *cluster.Cluster {
	t.Helper()
	llm := modeltest.New(t)
	llm.Script(modeltest.Call("look", nil), modeltest.Say("done"), modeltest.Status(401, nil, "no"))
	c := cluster.Start(t, cluster.Options{Orchestrators: 1, Knowledge: 1, Model: llm.URL()})
	c.Gateways[0].RunEverything(t, user)
	node := c.Gateways[1].Extension(t, user, nodeID)
	node.Register(`"available_tools":["look"]`)
	node.Serve(func(cluster.ToolCall) string { return `{}` })
	c.Gateways[0].Web(t, user).Close()
	for _, body := range []string{
		`{"tool_name":"look"}`, `{"tool_name":"look","node_id":"nobody"}`, `{"tool_name":"other","node_id":"` + nodeID + `"}`,
	} {
		for _, g := range c.Gateways {
			g.Post(t, "/api/node/browser/tool", user, body)
		}
	}
	invoke := func(finish string) {
		c.Gateways[0].Invoke(t, user, object{"message": "go", "llm_config": object{"apiKey": theirs}}).Complete(finish)
	}
	if r := c.Gateways[0].Do(t, http.MethodGet, "/api/agent/sessions", user, "", nil); r.Status != http.StatusOK {
		t.Fatal(r)
	}
	if r := c.Gateways[0].Do(t, http.MethodGet, "/api/knowledge-base", user, "", nil); r.Status != http.StatusOK {
		t.Fatal(r)
	}
	invoke("stop")
	invoke("error")
	node.Close()
	testkit.Eventually(t, 10*time.Second, func() bool {
		return c.Gateways[1].Metric(t, `hecaton_gateway_connections_closed_total{client="extension",reason="client_closed"}`) == 1
	}, "the node's end is counted")
	return c
}

// admins are the admin ports of a cluster's pods, by the service's name in its metrics.
func admins(c *cluster.Cluster) map[string]string {
	return map[string]string{
		"gateway": c.Gateways[0].Admin, "registry": c.Registries[0].Admin, "agent": c.Orchestrators[0].Admin,
		"knowledge": c.Knowledge[0].Admin,
	}
}

func families(t *testing.T, admin string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(metricsPage(t, admin, false)))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	// everyName is how a metric of ours is called: by service, or by what all services share.
	everyName = regexp.MustCompile(`^hecaton_(gateway|registry|agent|knowledge|bus|redis)_[a-z][a-z_]*[a-z]$|^hecaton_build_info$`)
	// labels are those that have few values, all known beforehand.
	labels = []string{
		"cause", "client", "code", "command", "direction", "finish_reason", "layer", "le", "limit", "method", "operation", "outcome", "port", "problem",
		"reason", "result", "service", "state", "type", "kind", "version",
	}
)

// mostSeries is how many series one metric of one pod may have, buckets left out. The most are those of connections that ended,
// by three kinds of clients and every reason.
const mostSeries = 64

func TestMetricsKeepToTheConventions(t *testing.T) {
	t.Parallel()
	c := worked(t)
	for service, admin := range admins(c) {
		page := metricsPage(t, admin, false)
		for _, secret := range []string{user, nodeID, theirs} {
			if strings.Contains(page, secret) {
				t.Errorf("the metrics of a %s name %s", service, secret)
			}
		}
		ours := 0
		for name, family := range families(t, admin) {
			if strings.HasPrefix(name, "hecaton_") {
				ours++
				conventional(t, name, family)
			}
		}
		if ours < 10 {
			t.Errorf("a %s has %d metrics of its own", service, ours)
		}
		lint(t, service, page)
	}
}

func conventional(t *testing.T, name string, family *dto.MetricFamily) {
	t.Helper()
	if !everyName.MatchString(name) {
		t.Errorf("%s: the name is not hecaton_<service>_<what>", name)
	}
	counter := family.GetType() == dto.MetricType_COUNTER
	if counter != strings.HasSuffix(name, "_total") {
		t.Errorf("%s is a %s", name, family.GetType())
	}
	if family.GetType() == dto.MetricType_HISTOGRAM && !strings.HasSuffix(name, "_seconds") && !strings.HasSuffix(name, "_nodes") {
		t.Errorf("%s: the name does not end with the unit", name)
	}
	if help := family.GetHelp(); !strings.HasSuffix(help, ".") {
		t.Errorf("%s: the help text is %q", name, help)
	}
	if n := len(family.GetMetric()); n > mostSeries {
		t.Errorf("%s has %d series", name, n)
	}
	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			if !slices.Contains(labels, label.GetName()) {
				t.Errorf("%s has the label %s, of which nobody has said how many values it has", name, label.GetName())
			}
			if value := label.GetValue(); len(value) > 64 || strings.ContainsAny(value, " {}") {
				t.Errorf("%s{%s=%q}: not a value that was known beforehand", name, label.GetName(), value)
			}
		}
	}
}

// lint asks those who have written the conventions down.
func lint(t *testing.T, service, page string) {
	t.Helper()
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s: %s", service, p.Metric, p.Text)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		return // the same rules, in another version
	}
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: promtool check metrics: %v\n%s", service, err, out)
	}
}

// What calls and runs did shows in the numbers that operators look at.
func TestWhatHappenedIsCounted(t *testing.T) {
	t.Parallel()
	c := worked(t)
	entry, holder, orchestrator := c.Gateways[0], c.Gateways[1], c.Orchestrators[0]
	for sample, want := range map[string]float64{
		`hecaton_gateway_calls_total{outcome="answered",reason=""}`:                        2, // the run's is one
		`hecaton_gateway_calls_total{outcome="not_delivered",reason="NODE_NOT_CONNECTED"}`: 1,
		`hecaton_gateway_calls_total{outcome="not_delivered",reason="TOOL_NOT_OFFERED"}`:   1,
		`hecaton_gateway_call_duration_seconds_count{outcome="not_delivered"}`:             2,
		`hecaton_gateway_connections_closed_total{client="web",reason="client_closed"}`:    1,
		`hecaton_gateway_connections_open`:                                                 0,
		`hecaton_bus_connected{service="gateway"}`:                                         1,
		`hecaton_build_info{service="gateway",version="unknown"}`:                          1,
		`hecaton_gateway_drain_state`:                                                      0,
	} {
		if got := entry.Metric(t, sample); got != want {
			// The run's call may have come in at the other gateway.
			if !strings.Contains(sample, "answered") || got+holder.Metric(t, sample) != 3 {
				t.Errorf("%s is %v, want %v", sample, got, want)
			}
		}
	}
	if holder.Metric(t, "hecaton_gateway_presence_lag_seconds_count") != 1 {
		t.Error("the node's arrival is not measured")
	}
	for sample, want := range map[string]float64{
		`hecaton_agent_runs_started_total{cause="invoke"}`:                     2,
		`hecaton_agent_runs_ended_total{finish_reason="stop"}`:                 1,
		`hecaton_agent_runs_ended_total{finish_reason="error"}`:                1,
		`hecaton_agent_tool_calls_total{layer="connector",outcome="answered"}`: 1,
		`hecaton_agent_model_requests_total{outcome="answered"}`:               2,
		`hecaton_agent_model_requests_total{outcome="Unauthorized"}`:           1,
		`hecaton_agent_model_first_token_seconds_count`:                        2,
		`hecaton_agent_runs_active`:                                            0,
		`hecaton_agent_runs_waiting`:                                           0,
		`hecaton_agent_runs_orphaned`:                                          0,
		`hecaton_bus_connected{service="agent-orchestrator"}`:                  1,
	} {
		if got := orchestrator.Metric(t, sample); got != want {
			t.Errorf("%s is %v, want %v", sample, got, want)
		}
	}
	for sample, least := range map[string]float64{
		`hecaton_registry_registrations_total{outcome="registered"}`:                               1,
		`hecaton_registry_gateways_live`:                                                           2,
		`hecaton_redis_command_duration_seconds_count{command="pipeline",service="node-registry"}`: 1,
		`hecaton_bus_messages_total{direction="out",service="node-registry"}`:                      1,
	} {
		testkit.Eventually(t, 10*time.Second, func() bool { return c.Registries[0].Metric(t, sample) >= least },
			fmt.Sprintf("%s is %v at least", sample, least)) // gateways report once a second
	}
}
