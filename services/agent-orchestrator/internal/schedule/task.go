package schedule

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/schedule/recurrence"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// The run modes.
const (
	Auto    = "auto"
	Confirm = "confirm"
)

// Limits of a task, in bytes.
const (
	maxTitle  = 512
	maxPrompt = 64 << 10
)

// members are those of a task that a user may say.
var members = []string{
	"title", "prompt", "repeat_type", "scheduled_time", "scheduled_date", "weekdays", "day_of_month", "cron", "timezone", "node_id", "run_mode",
	"notify", "llm_config", "tools", "knowledge_base_ids", "skills",
}

// change takes the members of a task that are named from what a user says, checks the whole, and finds when it fires next.
func (s *Scheduler) change(t *store.ScheduledTask, to *agentv1.ScheduledTask, run *agentv1.InvokeRequest, named []string) error {
	rule, err := readRule(t.Rule)
	if err != nil {
		return err
	}
	before := rule
	changed := func(member string) bool { return slices.Contains(named, member) }
	kindChanged := changed("repeat_type") && to.GetRepeatType() != rule.Kind
	if kindChanged { // what belongs to the kind before says nothing any more
		rule = recurrence.Rule{Kind: to.GetRepeatType(), Time: rule.Time, Zone: rule.Zone}
		if rule.Kind == recurrence.Cron {
			rule.Time = ""
		}
	}
	for member, set := range map[string]func(){
		"title":          func() { t.Title = tool.CleanText(to.GetTitle()) },
		"prompt":         func() { t.Prompt = tool.CleanText(to.GetPrompt()) },
		"node_id":        func() { t.Node = to.GetNodeId() },
		"run_mode":       func() { t.RunMode = to.GetRunMode() },
		"notify":         func() { t.Notify = to.GetNotify() },
		"scheduled_time": func() { rule.Time = to.GetScheduledTime() },
		"scheduled_date": func() { rule.Date = to.GetScheduledDate() },
		"weekdays":       func() { rule.Weekdays = whole(to.GetWeekdays()) },
		"day_of_month":   func() { rule.Day = int(to.GetDayOfMonth()) },
		"cron":           func() { rule.Cron = to.GetCron() },
		"timezone":       func() { rule.Zone = to.GetTimezone() },
	} {
		if changed(member) {
			set()
		}
	}
	if err := s.check(t); err != nil {
		return err
	}
	if err := s.changeRun(t, run, changed); err != nil {
		return err
	}
	return s.arrange(t, before, rule)
}

// arrange finds when a task fires next, where its rule has changed.
func (s *Scheduler) arrange(t *store.ScheduledTask, before, rule recurrence.Rule) error {
	parsed, err := recurrence.Parse(rule)
	if err != nil {
		return err
	}
	now, raw := s.Now(), t.Rule
	if t.Rule, err = json.Marshal(rule); err != nil {
		return err
	}
	if string(raw) == string(t.Rule) && before.Kind != "" {
		return nil
	}
	next := parsed.Next(now)
	if next.IsZero() {
		return errs.New(errs.ScheduleInvalid, "scheduled_date %s at %s is over in %s", rule.Date, rule.Time, rule.Zone)
	}
	if t.State != store.SchedulePaused {
		t.State, t.Next = store.ScheduleActive, next
	}
	return nil
}

// changeRun keeps how the runs of a task are begun.
func (s *Scheduler) changeRun(t *store.ScheduledTask, to *agentv1.InvokeRequest, changed func(string) bool) error {
	run := &agentv1.InvokeRequest{}
	if len(t.Run) > 0 {
		var err error
		if run, err = s.openRun(*t); err != nil {
			return err
		}
	}
	if changed("llm_config") {
		run.Model = to.GetModel()
	}
	if changed("tools") {
		run.Tools = to.GetTools()
	}
	if changed("skills") {
		run.Skills = to.GetSkills()
	}
	if changed("knowledge_base_ids") {
		run.KnowledgeBaseIds = to.GetKnowledgeBaseIds()
	}
	run.Message = t.Prompt
	if err := s.Check(run); err != nil {
		return err
	}
	run.Message = ""
	return s.sealRun(t, run)
}

func (s *Scheduler) check(t *store.ScheduledTask) error {
	invalid := func(format string, args ...any) error { return errs.New(errs.InvalidArgument, format, args...) }
	switch {
	case t.Title == "":
		return invalid("title is required, a string that is not empty")
	case len(t.Title) > maxTitle:
		return invalid("title has %d bytes, at most %d are allowed", len(t.Title), maxTitle)
	case t.Prompt == "":
		return invalid("prompt is required, a string that is not empty")
	case len(t.Prompt) > maxPrompt:
		return invalid("prompt has %d bytes, at most %d are allowed", len(t.Prompt), maxPrompt)
	case t.RunMode != Auto && t.RunMode != Confirm:
		return invalid("run_mode is %q, must be %q or %q", t.RunMode, Auto, Confirm)
	}
	if t.Node != "" {
		if err := ids.Check("node_id", t.Node); err != nil {
			return err
		}
	}
	for i, channel := range t.Notify {
		switch {
		case channel != InApp && channel != Email && channel != Feishu:
			return invalid("notify[%d] is %q, must be one of %q, %q, %q", i, channel, InApp, Email, Feishu)
		case slices.Contains(t.Notify[:i], channel):
			return invalid("notify[%d] is there twice", i)
		case channel != InApp && s.Channels[channel] == nil:
			return invalid("notify[%d]: this server is not set up for %q", i, channel)
		}
	}
	return nil
}

func whole(list []int32) []int {
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = int(n)
	}
	return out
}

func readRule(raw []byte) (rule recurrence.Rule, err error) {
	if len(raw) == 0 {
		return rule, nil
	}
	if err = json.Unmarshal(raw, &rule); err != nil {
		err = fmt.Errorf("a task's rule: %w", err)
	}
	return rule, err
}

func ruleOf(t store.ScheduledTask) (*recurrence.Schedule, error) {
	rule, err := readRule(t.Rule)
	if err != nil {
		return nil, err
	}
	return recurrence.Parse(rule)
}

func kindOf(t store.ScheduledTask) string {
	rule, _ := readRule(t.Rule) // one that cannot be read does not fire
	return rule.Kind
}

// message shows a task to its user, without the secrets of its runs.
func (s *Scheduler) message(t store.ScheduledTask) (*agentv1.ScheduledTask, error) {
	rule, err := readRule(t.Rule)
	if err != nil {
		return nil, err
	}
	run, err := s.openRun(t)
	if err != nil {
		return nil, err
	}
	out := &agentv1.ScheduledTask{
		Id: t.ID, Title: t.Title, Prompt: t.Prompt, RepeatType: rule.Kind, ScheduledTime: rule.Time, ScheduledDate: rule.Date,
		DayOfMonth: int32(rule.Day), Cron: rule.Cron, Timezone: rule.Zone, NodeId: t.Node, RunMode: t.RunMode, Notify: t.Notify, //nolint:gosec // 1 to 31
		Status: status(t), NextRunAt: moment(t.Next), CreatedAt: moment(t.Created), UpdatedAt: moment(t.Updated),
	}
	for _, d := range rule.Weekdays {
		out.Weekdays = append(out.Weekdays, int32(d)) //nolint:gosec // 0 to 6
	}
	if t.Last != nil {
		out.LastRun = runMessage(*t.Last)
	}
	return out, showRun(out, run)
}

// status is what a user is told of a task's state.
func status(t store.ScheduledTask) string {
	switch {
	case t.State == store.ScheduleActive && t.Running:
		return "running"
	case t.State == store.ScheduleActive:
		return "pending"
	}
	return string(t.State)
}

// showRun shows how the runs of a task are begun.
func showRun(out *agentv1.ScheduledTask, run *agentv1.InvokeRequest) (err error) {
	out.KnowledgeBaseIds = run.GetKnowledgeBaseIds()
	if m := run.GetModel(); m != nil {
		shown := map[string]any{"baseUrl": m.GetBaseUrl(), "modelName": m.GetModelName()}
		if m.Temperature != nil {
			shown["temperature"] = m.GetTemperature()
		}
		if m.GetContextWindow() != 0 {
			shown["contextWindow"] = m.GetContextWindow()
		}
		if out.LlmConfig, err = structpb.NewStruct(shown); err != nil {
			return err
		}
	}
	if wanted := run.GetSkills(); wanted != nil {
		shown := map[string]any{"names": list(wanted.GetNames())}
		if wanted.Auto != nil {
			shown["auto"] = wanted.GetAuto()
		}
		if wanted.MaxActive != nil {
			shown["max_active"] = wanted.GetMaxActive()
		}
		if out.Skills, err = structpb.NewValue(shown); err != nil {
			return err
		}
	}
	for _, source := range run.GetTools() {
		shown := map[string]any{"type": "oauth", "name": source.GetOauth().GetProvider()}
		if mcp := source.GetMcp(); mcp != nil {
			shown = map[string]any{"type": "mcp", "name": mcp.GetName(), "base_url": mcp.GetBaseUrl(), "transport_type": mcp.GetTransportType()}
		}
		one, err := structpb.NewStruct(shown)
		if err != nil {
			return err
		}
		out.Tools = append(out.Tools, one)
	}
	return nil
}

func list(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

func runMessage(r store.ScheduledRun) *agentv1.ScheduledRun {
	out := &agentv1.ScheduledRun{
		Id: r.ID, FiredFor: moment(r.FiredFor), StartedAt: moment(r.Started), FinishedAt: moment(r.Finished), Status: string(r.Status), Error: r.Error,
	}
	if r.Run != "" {
		out.SessionId = string(r.Session)
	}
	return out
}

func moment(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
