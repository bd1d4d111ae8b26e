package agentapi_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/agentapi"
)

// The bodies of docs/protocols/zeus-agents.md#invoke and their relatives, and what an orchestrator is asked.
func TestBodies(t *testing.T) {
	t.Parallel()
	const rules = `"tool_interrupt_config":{"click":{"enabled":true,"requires_interrupt":true},"read":{"enabled":true,"requires_interrupt":false}}`
	for body, want := range map[string]string{
		`{"message":"List my open tabs","llm_config":{"baseUrl":"https://llm.example/v1","apiKey":"k","modelName":"m-small","temperature":0.2},
		  "session_id":"s","mode":"agent","tools":[],"enable_memory":false,"knowledge_base_ids":["kb_42"],"user_id":"bob"}`: `{"message":"List my open tabs",
		  "model":{"baseUrl":"https://llm.example/v1","apiKey":"k","modelName":"m-small","temperature":0.2},"sessionId":"s","mode":"agent","enableMemory":false,"knowledgeBaseIds":["kb_42"]}`,
		`{"message":"x","llm_config":{"base_url":"u","api_key":"k","model_name":"m","context_window":9,"top_p":"?"}}`: `{"message":"x",
		  "model":{"baseUrl":"u","apiKey":"k","modelName":"m","contextWindow":9}}`,
		`{"message":"x","llm_config":{"baseUrl":"u","base_url":"v","temperature":0},"enable_sandbox":true,"sandbox_mode":1}`: `{"message":"x","model":{"baseUrl":"u","temperature":0}}`,
		`{"message":"x","llm_config":null,"tools":null,"session_id":null}`:                                                   `{"message":"x"}`,
		`{"message":"x","preferred_node_id":"n","on_disconnect":"cancel","max_steps":7,"mode":"plan"}`: `{"message":"x",
		  "preferredNodeId":"n","onDisconnect":"ON_DISCONNECT_CANCEL","maxSteps":7,"mode":"plan"}`,
		`{"message":"x","max_steps":1e1}`: `{"message":"x","maxSteps":10}`,
		`{"message":"x","chat_history":[{"role":"user","content":"a","timestamp":1},{"role":"system","content":"b"},{"role":"assistant","content":"c"}]}`: `{"message":"x",
		  "chatHistory":[{"role":"user","content":"a"},{"role":"assistant","content":"c"}]}`,
		`{"message":"x","tools":[{"type":"mcp","name":"a","base_url":"u","transport_type":"sse","api_key":"k","headers":{"H":"v"}},
		  {"type":"mcp","name":"b","transport_type":"stdio","command":"c","args":["1"],"env":{"E":"v"},"prompts":["p"]},
		  {"type":"oauth","name":"github","access_token":"t","refresh_token":"r","expires_at":1700000000.5},{"type":"oauth","provider":"slack","access_token":"t","expires_at":null}]}`: `{"message":"x",
		  "tools":[{"mcp":{"name":"a","baseUrl":"u","transportType":"sse","apiKey":"k","headers":{"H":"v"}}},
		  {"mcp":{"name":"b","transportType":"stdio","command":"c","args":["1"],"env":{"E":"v"},"prompts":["p"]}},
		  {"oauth":{"provider":"github","accessToken":"t","refreshToken":"r","expiresAt":"1700000000"}},{"oauth":{"provider":"slack","accessToken":"t"}}]}`,
		`{"message":"x",` + rules + `}`: `{"message":"x","toolInterruptConfig":{"click":{"enabled":true,"requiresInterrupt":true},"read":{"enabled":true}}}`,
		`{"message":"x","tool_interrupt_config":{"any":` + rules[len(`"tool_interrupt_config":`):] + `}}`: `{"message":"x",
		  "toolInterruptConfig":{"click":{"enabled":true,"requiresInterrupt":true},"read":{"enabled":true}}}`,
		// What a rule leaves open means: ask.
		`{"message":"x","tool_interrupt_config":{"a":{"enabled":true,"allowed":{}},"b":{"requires_interrupt":true},"c":{"enabled":false},"d":{},"e":null}}`: `{"message":"x",
		  "toolInterruptConfig":{"a":{"enabled":true,"requiresInterrupt":true},"b":{"enabled":true,"requiresInterrupt":true},"c":{"requiresInterrupt":true}}}`,
		// Tools may have any name.
		`{"message":"x","tool_interrupt_config":{"t":{"enabled":{"enabled":true},"requires_interrupt":{"enabled":false}}}}`: `{"message":"x",
		  "toolInterruptConfig":{"enabled":{"enabled":true,"requiresInterrupt":true},"requires_interrupt":{"requiresInterrupt":true}}}`,
	} {
		got, err := agentapi.ParseInvoke([]byte(body))
		wantMessage(t, body, got, err, &agentv1.InvokeRequest{}, want)
	}
	for body, want := range map[string]string{
		`{"session_id":"s","llm_config":{"apiKey":"k"},"tool_call_results":[{"tool_call_id":"c","tool_name":"x","decision":"approved"}],"human_order":"use the second card"}`: `{"sessionId":"s",
		  "model":{"apiKey":"k"},"toolCallResults":[{"toolCallId":"c","toolName":"x","decision":"approved"}],"humanOrder":"use the second card"}`,
		`{"session_id":"s","tool_call_results":[{"tool_call_id":"c","decision":"approved","node_id":"n"},{"node_id":"n"}]}`: `{"sessionId":"s","nodeId":"n",
		  "toolCallResults":[{"toolCallId":"c","decision":"approved"},{}]}`,
		`{"session_id":"s","node_id":"n","on_disconnect":"continue"}`: `{"sessionId":"s","nodeId":"n","onDisconnect":"ON_DISCONNECT_CONTINUE"}`,
		`{"session_id":"s","tool_call_results":[{"tool_call_id":"c","decision":"modified","tool_args":{"a":1},"digest":"d"},{"decision":"rejected","reason":"no","tool_args":null}]}`: `{"sessionId":"s",
		  "toolCallResults":[{"toolCallId":"c","decision":"modified","toolArgsJson":"eyJhIjoxfQ==","digest":"d"},{"decision":"rejected","reason":"no"}]}`,
		// An empty one replaces the invoke's, none does not.
		`{"session_id":"s","tool_interrupt_config":{}}`: `{"sessionId":"s","toolInterruptConfig":{}}`,
		`{"session_id":"s",` + rules + `}`:              `{"sessionId":"s","toolInterruptConfig":{"tools":{"click":{"enabled":true,"requiresInterrupt":true},"read":{"enabled":true}}}}`,
	} {
		got, err := agentapi.ParseResume([]byte(body))
		wantMessage(t, body, got, err, &agentv1.ResumeRequest{}, want)
	}
}

func wantMessage(t *testing.T, body string, got proto.Message, err error, want proto.Message, json string) {
	t.Helper()
	if err := protojson.Unmarshal([]byte(json), want); err != nil {
		t.Fatal(err)
	}
	if err != nil || !proto.Equal(got, want) {
		t.Errorf("%s: %v, %v", body, err, got)
	}
}

// No body breaks the readers; what they refuse, they name.
func FuzzBodies(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, ``, `{"message":"x","tools":[{"type":"mcp","headers":{}}],"max_steps":1e300}`, `{"session_id":"s","tool_call_results":[{"tool_args":{}}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, err := range []error{second(agentapi.ParseInvoke([]byte(body))), second(agentapi.ParseResume([]byte(body)))} {
			if err != nil && strings.TrimSpace(err.Error()) == "" {
				t.Error("a refusal without words")
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
