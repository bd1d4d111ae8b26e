package agentfaults_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// gate holds a transaction within the database, at the very moment at which it changes a call: that whose arguments say so
// waits until the test lets it pass, or undoes it.
type gate struct {
	t    *testing.T
	conn *pgx.Conn
}

// holdCalls makes transactions wait that put a call with {"hold":"<state> <decision>"} among its arguments there.
const holdCalls = `
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF convert_from(NEW.args, 'UTF8')::jsonb->>'hold' = NEW.state || ' ' || NEW.decision THEN
		PERFORM pg_advisory_xact_lock(1);
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER hold BEFORE INSERT OR UPDATE ON calls FOR EACH ROW EXECUTE FUNCTION hold();`

func newGate(t *testing.T, database string) *gate {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	g := &gate{t, conn}
	g.exec(holdCalls)
	return g
}

func (g *gate) exec(sql string) {
	g.t.Helper()
	if _, err := g.conn.Exec(g.t.Context(), sql); err != nil {
		g.t.Fatal(err)
	}
}

// close has transactions wait from now on.
func (g *gate) close() { g.exec("SELECT pg_advisory_lock(1)") }

// waiting are the transactions of this database that wait.
const waiting = " FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 1" +
	" AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"

// await waits until a transaction waits.
func (g *gate) await() {
	g.t.Helper()
	soon(g.t, func() bool {
		var one bool
		err := g.conn.QueryRow(g.t.Context(), "SELECT EXISTS (SELECT"+waiting+")").Scan(&one)
		return err == nil && one
	}, "a transaction waits")
}

// open ends the waiting.
func (g *gate) open(undo bool) {
	g.t.Helper()
	if undo { // as where the server fails
		g.exec("SELECT pg_terminate_backend(pid)" + waiting)
	}
	g.exec("SELECT pg_advisory_unlock_all()")
	g.exec("UPDATE sessions SET lease_until = 0") // nobody holds one any more
}

// instant is a moment within a change to one of three calls.
type instant struct {
	name string
	hold string // state and decision that the call gets
	tool string
	held int // which of the calls
	// undone and kept are what becomes of the calls, separated by commas.
	undone, kept string
}

var instants = []instant{
	{"the answer is kept and its first call starts", "started ", "click", 1, "1,2,3", "unknown,2,3"},
	{"a result is kept and the next call starts", "started ", "click", 2, "1 unknown,2,3", "1,unknown,3"},
	{"the last result is kept", "ended ", "click", 3, "1,2,3 unknown", "1,2,3"},
	{"decisions are taken", "ready approved", "pay", 1, "1,2,3", "1,2,3"},
	{"an approved call starts", "started approved", "pay", 1, "1,2,3", "unknown,2,3"},
}

// All orchestrators are killed while they write, so that the write may or may not have been committed. If it was not, the
// step is done again; if it was, a call that may have begun is not begun again.
func TestKilledAtTheInstantOfAChange(t *testing.T) {
	t.Parallel()
	for how, undo := range map[string]bool{"and it was kept": false, "and it was undone": true} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			database := testkit.Postgres(t)
			w := newFixture(t, cluster.Options{OrchestratorProcesses: true, Database: database})
			g := newGate(t, database)
			for i, at := range instants {
				u := w.join(t, fmt.Sprint("user", i), modeltest.Repeat(9, modeltest.Func(at.answer))...)
				t.Run(at.name, func(t *testing.T) { at.play(t, u, g, undo) })
			}
		})
	}
}

// answer is that of the model, however often it is asked: three calls, of which one is held.
func (at instant) answer(r modeltest.Request) modeltest.Answer {
	if _, answered := r.Last("tool"); answered {
		return modeltest.Say("done")
	}
	calls := make([]modeltest.ToolCall, 3)
	for i := range calls {
		calls[i] = modeltest.ToolCall{Name: at.tool, Args: fmt.Sprintf(`{"n":%d}`, i+1)}
	}
	calls[at.held-1].Args = fmt.Sprintf(`{"n":%d,"hold":%q}`, at.held, at.hold)
	return modeltest.Calls(calls...)
}

func (at instant) play(t *testing.T, u *user, g *gate, undo bool) {
	u.T, g.t = t, t
	u.serve()
	g.close()
	send := func() *cluster.Stream { return u.invoke(u.Gateways[1]) }
	if at.tool == "pay" {
		first := send()
		calls := u.interrupted(first)
		send = func() *cluster.Stream {
			return u.Gateways[0].Resume(u, u.name, u.decision(first.Session, "approved", calls))
		}
	}
	accepted := make(chan *cluster.Stream, 1)
	go func() {
		defer close(accepted)
		accepted <- send() // which is accepted once it is kept
	}()
	g.await()
	for _, o := range u.Orchestrators {
		o.Kill()
	}
	g.open(undo)
	for _, o := range u.Orchestrators {
		o.Start()
	}
	s, ok := <-accepted
	if !ok {
		t.FailNow()
	}
	u.ends(s, "stop")
	var got []string
	for _, e := range s.Heard {
		if e.Type == "tool_call_result" && e.Outcome == "" {
			got = append(got, e.Result)
		} else if e.Type == "tool_call_result" {
			got = append(got, e.Outcome)
		}
	}
	told, ran := become(at.kept)
	if undo {
		told, ran = become(at.undone)
	}
	if strings.Join(got, ",") != told {
		t.Errorf("the calls ended with %v, want %v", got, told)
	}
	u.ledger.Once(t, ran...)
}

// become reads what became of calls: what clients were told, and which calls ran. "1 unknown" ran, with an unknown outcome.
func become(calls string) (told string, ran []int) {
	var all []string
	for call := range strings.SplitSeq(calls, ",") {
		number, outcome, both := strings.Cut(call, " ")
		if n, err := strconv.Atoi(number); err == nil {
			ran = append(ran, n)
		}
		if !both {
			outcome = number
		}
		all = append(all, outcome)
	}
	return strings.Join(all, ","), ran
}
