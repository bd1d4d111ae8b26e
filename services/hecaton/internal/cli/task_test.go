package cli_test

import (
	"strings"
	"testing"
)

// What hecaton task does is seen in a cluster.
func TestTask(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	task := func(want int, says string, args ...string) string {
		t.Helper()
		p := start(t, nil, append([]string{"task", "--server", "http://" + c.Gateways[1].HTTP, "--user", "ana"}, args...)...)
		code := p.wait()
		out := p.out.String() + p.err.String()
		if code != want || !strings.Contains(out, says) {
			t.Errorf("%v: %d %s", args, code, out)
		}
		return out
	}
	made := task(0, "09:00 CE", "--at", "09:00", "--weekdays", "mon,fri", "--timezone", "Europe/Berlin", "add", "sum", "up", "the", "orders")
	id, _, _ := strings.Cut(strings.TrimPrefix(made, "added "), ",")
	task(0, "sum up the orders", "list")
	task(0, id+": paused", "pause", id)
	task(0, id+": pending", "resume", id)
	task(0, ": running", "run", id)
	task(0, "session_", "runs", id)
	task(0, id+": cancelled", "cancel", id)
	task(0, "removed "+id, "remove", id)
	task(3, "no task", "run", id)
	task(0, "added", "--cron", "0 7 * * *", "--confirm", "--title", "Daily", "add", "do it")
	task(2, "needs --at", "add", "do it")
	task(2, "must be of sun", "--at", "09:00", "--weekdays", "monday", "add", "do it")
	task(2, "give list", "dance", "now")
}
