package agentapi_test

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/agentapi"
)

var update = flag.Bool("update", false, "write the transcripts in testdata")

// transcript has every kind of docs/protocols/zeus-agents.md#events, and what else an event can hold.
func transcript() []*agentv1.Event {
	args := []byte("{\n  \"selector\": \"#pay\"\n}")
	expires := timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC))
	events := []*agentv1.Event{
		{Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: "Opening the orders page. "}}},
		{Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: "\"q\" \\ \n\r\t\x01 é 漢 🙂 </script>", MessageId: "m2", Replaces: "m1"}}},
		{Kind: &agentv1.Event_ToolCallChunk{ToolCallChunk: &agentv1.ToolCallChunk{ToolCallId: "call_01", ToolName: "browser_click", Args: `{"sel`, MessageId: "m2"}}},
		{Kind: &agentv1.Event_ToolCall{ToolCall: &agentv1.ToolCall{ToolName: "browser_click", ToolArgsJson: args, ToolCallId: "call_01", RequiresApproval: true}}},
		{Kind: &agentv1.Event_ToolCall{ToolCall: &agentv1.ToolCall{ToolName: "browser_click", ToolArgsJson: []byte(`"{\"sel"`), ToolCallId: "call_02"}}},
		{Kind: &agentv1.Event_ToolCall{ToolCall: &agentv1.ToolCall{ToolName: "read_todos", ToolCallId: "call_03"}}},
		{Kind: &agentv1.Event_Interrupt{Interrupt: &agentv1.Interrupt{InterruptId: "int_1", Reason: "approval", ToolCalls: []*agentv1.PendingCall{
			{ToolCallId: "call_01", ToolName: "browser_click", ToolArgsJson: args, NodeId: "n1", Digest: "d1", ExpiresAt: expires},
			{ToolCallId: "call_02", ToolName: "github_create_issue", ToolArgsJson: args, Digest: "d2", ExpiresAt: expires},
		}}}},
		{Kind: &agentv1.Event_Interrupt{Interrupt: &agentv1.Interrupt{
			InterruptId: "int_2", Reason: "node_selection", ToolCalls: []*agentv1.PendingCall{{ToolCallId: "call_01", ToolName: "browser_click"}},
			AvailableNodes: []*nodev1.Node{{
				Info:   &nodev1.NodeInfo{NodeId: "n1", NodeType: nodev1.NodeType_NODE_TYPE_EXTENSION, NodeName: "Work", AvailableTools: []string{"browser_click"}, MaxConcurrentTasks: 3},
				Status: nodev1.NodeStatus_NODE_STATUS_ONLINE, IsConnected: true, GatewayId: "hidden",
			}},
		}}},
		{Kind: &agentv1.Event_ToolCallResult{ToolCallResult: &agentv1.ToolCallResult{ToolCallId: "call_01", ToolName: "browser_click", Result: "Clicked"}}},
		{Kind: &agentv1.Event_ToolCallResult{ToolCallResult: &agentv1.ToolCallResult{
			ToolCallId: "call_04", ToolName: "screenshot", Result: "[image]", NodeId: "n1", FilePath: "sandbox-output/r/call_04.txt",
			Artifacts: []*agentv1.Artifact{
				{Type: "image", MimeType: "image/png", FilePath: "sandbox-output/r #1/call_04-1.png", Size: 3, Data: []byte{0xff, 0xfe, 0xfd}},
				{Type: "file", MimeType: "text/csv", FilePath: "a.csv", Size: 99 << 20},
			},
		}}},
		{Kind: &agentv1.Event_ToolCallResult{ToolCallResult: &agentv1.ToolCallResult{ToolCallId: "call_05", ToolName: "click", Result: "?", IsError: true, Outcome: "unknown", Reason: "TOOL_TIMEOUT"}}},
		{Kind: &agentv1.Event_TokenUsage{TokenUsage: &agentv1.TokenUsage{PromptTokens: 812, CompletionTokens: 64}}},
		{Kind: &agentv1.Event_Error{Error: &agentv1.Error{Message: "Too many requests", Code: "RateLimited", Details: "retry later"}}},
		{Kind: &agentv1.Event_Error{Error: &agentv1.Error{Message: "broken", Code: "Internal"}}},
		{ParentToolCallId: "call_06", Kind: &agentv1.Event_SubAgentText{SubAgentText: &agentv1.SubAgentText{Content: "I look."}}},
		{ParentToolCallId: "call_06", Kind: &agentv1.Event_ToolCall{ToolCall: &agentv1.ToolCall{ToolName: "click", ToolArgsJson: args, ToolCallId: "call_07", RequiresApproval: true}}},
		{ParentToolCallId: "call_06", Kind: &agentv1.Event_ToolCallResult{ToolCallResult: &agentv1.ToolCallResult{ToolCallId: "call_07", ToolName: "click", Result: "Clicked"}}},
		{Kind: &agentv1.Event_Interrupt{Interrupt: &agentv1.Interrupt{InterruptId: "int_3", Reason: "approval", ToolCalls: []*agentv1.PendingCall{
			{ToolCallId: "call_07", ToolName: "click", ToolArgsJson: args, NodeId: "n1", Digest: "d3", ExpiresAt: expires, ParentToolCallId: "call_06"},
		}}}},
		{Kind: nil},
		{Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{FinishReason: "stop", Content: "Done.", Summary: "Paid order 12"}}},
	}
	for i, e := range events {
		e.Seq, e.SessionId, e.RunId = int64(i+1), "session_9f31c2ab77d0", "run_1"
	}
	return events
}

// The bytes of every event, in both dialects, as a client reads them.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	p := startPod(t, &script{invoke: func(_ *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		return say(s, transcript()...)
	}})
	g := startGateway(t, nil, p)
	for query, name := range map[string]string{"": "seed.sse", "?dialect=reference": "reference.sse"} {
		got, err := io.ReadAll(g.do(t, "POST", "/api/agent/invoke"+query, hello).Body)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v, got\n%s", name, err, got)
		}
	}
}

// Whatever is in an event, it is one line of JSON that says the same.
func FuzzEvent(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\r\t\x00\x7f", "é\xff\u2028", `{"a":[1,{"b":null}]}`, "{\"a\":\n1}", "{\"\xff\":1}", "{", "nul", "1 2"} {
		f.Add(s, []byte(s))
	}
	f.Fuzz(func(t *testing.T, s string, raw []byte) {
		artifact := &agentv1.Artifact{Type: s, MimeType: s, FilePath: s, Data: raw}
		for _, e := range []*agentv1.Event{
			{Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: s, MessageId: s, Replaces: s}}},
			{Kind: &agentv1.Event_ToolCallChunk{ToolCallChunk: &agentv1.ToolCallChunk{ToolCallId: s, ToolName: s, Args: s}}},
			{Kind: &agentv1.Event_ToolCall{ToolCall: &agentv1.ToolCall{ToolCallId: s, ToolName: s, ToolArgsJson: raw}}},
			{Kind: &agentv1.Event_ToolCallResult{ToolCallResult: &agentv1.ToolCallResult{Result: s, Reason: s, Artifacts: []*agentv1.Artifact{artifact, artifact}}}},
			{Kind: &agentv1.Event_Interrupt{Interrupt: &agentv1.Interrupt{Reason: s, ToolCalls: []*agentv1.PendingCall{{ToolArgsJson: raw, Digest: s}, {}}}}},
			{Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{Content: s, Summary: s}}},
			{Kind: &agentv1.Event_Error{Error: &agentv1.Error{Message: s, Code: s, Details: s}}},
		} {
			e.SessionId, e.RunId, e.Seq = s, s, 7
			out := string(agentapi.AppendEvent(nil, e))
			line, ok := strings.CutPrefix(out, "id: 7\ndata: ")
			line, end := strings.CutSuffix(line, "\n\n")
			if !ok || !end || strings.ContainsAny(line, "\n\r") || !utf8.ValidString(line) {
				t.Fatalf("%q", out)
			}
			var members map[string]any
			if err := json.Unmarshal([]byte(line), &members); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if members["session_id"] != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
				t.Errorf("%q became %q", s, members["session_id"])
			}
			if args, ok := members["tool_args"]; ok && json.Valid(raw) && utf8.Valid(raw) {
				var want any
				_ = json.Unmarshal(raw, &want)
				a, _ := json.Marshal(args)
				b, _ := json.Marshal(want)
				if string(a) != string(b) {
					t.Errorf("%s became %s", b, a)
				}
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	e := text(12345, "some words of an answer")
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = agentapi.AppendEvent(buf[:0], e)
	}
}
