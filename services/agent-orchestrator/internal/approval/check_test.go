package approval_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

const session = "session_1"

var now = time.Unix(1_800_000_000, 0)

// waiting are two calls that wait, between one that need not and one that was decided before.
func waiting() []store.Call {
	calls := []store.Call{
		{ID: "free", Tool: "read_file", State: store.Ready, Args: []byte(`{}`)},
		{ID: "a", Tool: "click", State: store.Waiting, Args: []byte(`{"selector":"#pay"}`), Node: "n1", NodeMark: "m1"},
		{ID: "b", Tool: "type", State: store.Waiting, Args: []byte(`{"text":"x","n":1}`)},
		{ID: "old", Tool: "click", State: store.Ended, Decision: approval.Approved},
	}
	for i := range calls {
		calls[i].Digest = digest(calls[i])
		if calls[i].State == store.Waiting {
			calls[i].Expires = now.Add(time.Hour)
		}
	}
	return calls
}

func digest(c store.Call) string {
	return approval.Digest(session, c.ID, c.Tool, c.Args, c.Node, c.NodeMark)
}

type decision = agentv1.ToolCallDecision

func yes(id, tool string) *decision {
	return &decision{ToolCallId: id, ToolName: tool, Decision: approval.Approved}
}

func with(d *decision, change func(*decision)) *decision {
	change(d)
	return d
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	later := now.Add(2 * time.Hour)
	for name, tt := range map[string]struct {
		first *decision // about call a; b is approved
		more  []*decision
		at    time.Time
		want  errs.Reason
	}{
		"missing":              {nil, nil, now, errs.MissingDecision},
		"unknown":              {yes("a", "click"), []*decision{yes("c", "click")}, now, errs.UnknownCall},
		"not asked about":      {yes("a", "click"), []*decision{yes("free", "read_file")}, now, errs.UnknownCall},
		"decided before":       {yes("a", "click"), []*decision{yes("old", "click")}, now, errs.AlreadyDecided},
		"doubled":              {yes("a", "click"), []*decision{yes("a", "click")}, now, errs.InvalidDecision},
		"another tool":         {yes("a", "type"), nil, now, errs.InvalidDecision},
		"no decision":          {with(yes("a", ""), func(d *decision) { d.Decision = "" }), nil, now, errs.InvalidDecision},
		"unknown decision":     {with(yes("a", ""), func(d *decision) { d.Decision = "Approved" }), nil, now, errs.InvalidDecision},
		"forged digest":        {with(yes("a", ""), func(d *decision) { d.Digest = digest(waiting()[2]) }), nil, now, errs.DigestDiffers},
		"approved but changed": {with(yes("a", ""), func(d *decision) { d.ToolArgsJson = []byte(`{"selector":"#all"}`) }), nil, now, errs.InvalidDecision},
		"modified to nothing":  {with(yes("a", ""), func(d *decision) { d.Decision = "modified" }), nil, now, errs.InvalidDecision},
		"modified to an array": {with(yes("a", ""), func(d *decision) { d.Decision, d.ToolArgsJson = "modified", []byte(`[1]`) }), nil, now, errs.InvalidDecision},
		"modified, doubled key": {with(yes("a", ""), func(d *decision) { d.Decision, d.ToolArgsJson = "modified", []byte(`{"a":1,"a":2}`) }),
			nil, now, errs.InvalidDecision},
		"approved too late":  {yes("a", "click"), nil, later, errs.ApprovalExpired},
		"rejected too late":  {with(yes("a", ""), func(d *decision) { d.Decision = "rejected" }), nil, later, errs.ApprovalExpired},
		"at the last moment": {yes("a", "click"), nil, now.Add(time.Hour), errs.ApprovalExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decisions := append([]*decision{yes("b", "type")}, tt.more...)
			if tt.first != nil {
				decisions = append(decisions, tt.first)
			}
			decided, err := approval.Check(session, waiting(), decisions, tt.at)
			if !errors.Is(err, tt.want) || decided != nil {
				t.Errorf("%v, %v; want %s", decided, err, tt.want)
			}
		})
	}
}

func TestCheckDecides(t *testing.T) {
	t.Parallel()
	calls := waiting()
	for name, tt := range map[string]struct {
		first *decision
		at    time.Time
		want  func(*store.Call) // how call a differs from before, beside State, Decision and times
	}{
		"approved":                 {yes("a", "click"), now, nil},
		"approved, no tool's name": {yes("a", ""), now, nil},
		"approved as shown": {with(yes("a", ""), func(d *decision) {
			d.ToolArgsJson, d.Digest = []byte(`{ "selector" : "#\u0070ay" }`), calls[1].Digest
		}), now, nil},
		"rejected": {with(yes("a", ""), func(d *decision) { d.Decision, d.Reason = "rejected", "too dear" }), now,
			func(c *store.Call) { c.Reason = "too dear" }},
		"modified": {with(yes("a", ""), func(d *decision) { d.Decision, d.ToolArgsJson = "modified", []byte(`{"selector":"#one"}`) }), now,
			func(c *store.Call) { c.Args = []byte(`{"selector":"#one"}`); c.Digest = digest(*c) }},
		"timeout":        {with(yes("a", ""), func(d *decision) { d.Decision = "timeout" }), now.Add(2 * time.Hour), nil},
		"timeout, early": {with(yes("a", ""), func(d *decision) { d.Decision = "timeout" }), now, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := with(yes("b", "type"), func(d *decision) { d.Decision = "timeout" })
			decided, err := approval.Check(session, waiting(), []*decision{second, tt.first}, tt.at)
			if err != nil || len(decided) != 2 || decided[0].ID != "a" || decided[1].ID != "b" {
				t.Fatalf("%v, %v", decided, err)
			}
			got, want := decided[0], waiting()[1]
			if tt.want != nil {
				tt.want(&want)
			}
			if got.State != store.Ready || got.Decision != tt.first.GetDecision() || !got.Decided.Equal(tt.at) || !got.Expires.IsZero() {
				t.Errorf("%+v", got)
			}
			if string(got.Args) != string(want.Args) || got.Digest != want.Digest || got.Reason != want.Reason {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// A page reads the numbers that it is shown as JavaScript does, and sends them back so.
func TestApprovedArgumentsComeBackAsAPageWritesThem(t *testing.T) {
	t.Parallel()
	shown := `{"n":[1.0,-0.0,1e2,12345678901234567890],"s":"1.0"}`
	for back, want := range map[string]errs.Reason{
		`{"s":"1.0","n":[1,0,100,12345678901234567000]}`:   "",
		`{"s":"1.0","n":[2,0,100,12345678901234567000]}`:   errs.InvalidDecision,
		`{"s":"1","n":[1,0,100,12345678901234567000]}`:     errs.InvalidDecision,
		`{"s":"1.0","n":["1",0,100,12345678901234567000]}`: errs.InvalidDecision,
	} {
		call := store.Call{ID: "a", Tool: "click", State: store.Waiting, Args: []byte(shown), Expires: now.Add(time.Hour)}
		call.Digest = digest(call)
		sends := with(yes("a", "click"), func(d *decision) { d.ToolArgsJson = []byte(back) })
		decided, err := approval.Check(session, []store.Call{call}, []*decision{sends}, now)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", back, err)
		case want == "" && string(decided[0].Args) != shown:
			t.Errorf("%s: %s runs, which was not shown", back, decided[0].Args)
		case want != "" && !errors.Is(err, want):
			t.Errorf("%s: %v", back, err)
		}
	}
}
