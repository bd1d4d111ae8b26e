package offlinemodel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
)

// offer is tools of these names, each with a schema where the name has one behind a space.
func offer(tools ...string) []chatwire.Tool {
	var out []chatwire.Tool
	for _, t := range tools {
		name, parameters, _ := strings.Cut(t, " ")
		out = append(out, chatwire.Tool{Type: "function", Function: chatwire.Function{Name: name, Parameters: json.RawMessage(parameters)}})
	}
	return out
}

var everything = offer("screenshot", "read_file", "list_directory", "write_file", "run_command", "browser_click", "type", "navigate",
	"get_text", "list_tabs", "write_todos", "read_todos", "task", "echo",
	"load_skill", "read_skill_file", "save_memory", "search_memory", "delete_memory")

// TestCommands says of each message which steps it makes with the tools above: answers are separated by |.
func TestCommands(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"take a screenshot": `screenshot {}`,
		"Please take a full page screenshot of the page!": `screenshot {"full_page":true}`,
		"Hi! Could you take a screenshot of example.org?": `screenshot {}`,
		"screenshot":                                         `screenshot {}`,
		"read the file a.txt":                                `read_file {"path":"a.txt"}`,
		"read notes/a b.txt.":                                `read_file {"path":"notes/a b.txt"}`,
		"open the file 'x y.md'":                             `read_file {"path":"x y.md"}`,
		"list files":                                         `list_directory {}`,
		"list the directory docs":                            `list_directory {"path":"docs"}`,
		"show me the files in /tmp":                          `list_directory {"path":"/tmp"}`,
		"ls src":                                             `list_directory {"path":"src"}`,
		"write 'hello; then click' to out.txt":               `write_file {"content":"hello; then click","path":"out.txt"}`,
		`save "" into the file a.txt`:                        `write_file {"content":"","path":"a.txt"}`,
		"create a file a.txt with 'x'":                       `write_file {"content":"x","path":"a.txt"}`,
		"run `ls -l; echo 'a b' && true`":                    `run_command {"command":"ls -l; echo 'a b' \u0026\u0026 true"}`,
		"execute the command uname":                          `run_command {"command":"uname"}`,
		"click #sel":                                         `browser_click {"selector":"#sel"}`,
		"click on the button .buy > a":                       `browser_click {"selector":".buy \u003e a"}`,
		"open https://example.org/a?b=c":                     `navigate {"url":"https://example.org/a?b=c"}`,
		"go to example.org":                                  `navigate {"url":"https://example.org"}`,
		"type 'it''s' into #name":                            ``,
		`type "it's" into the field #name`:                   `type {"selector":"#name","text":"it's"}`,
		"read the text of #main":                             `get_text {"selector":"#main"}`,
		"get the text of the page":                           `get_text {}`,
		"list my tabs":                                       `list_tabs {}`,
		"add a todo: buy milk":                               `write_todos {"todos":[{"content":"buy milk","status":"pending"}]}`,
		"add buy milk to my todo list":                       `write_todos {"todos":[{"content":"buy milk","status":"pending"}]}`,
		"load the skill pdf-tools and read a.txt":            `load_skill {"name":"pdf-tools"}|read_file {"path":"a.txt"}`,
		"Use my skill x":                                     `load_skill {"name":"x"}`,
		"read references/a.md of the skill x":                `read_skill_file {"name":"x","path":"references/a.md"}`,
		"remember that I like tea":                           `save_memory {"content":"I like tea"}`,
		"what do you remember about tea?":                    `search_memory {"query":"tea"}`,
		"forget the memory mem_1":                            `delete_memory {"id":"mem_1"}`,
		"show the todos":                                     `read_todos {}`,
		"delegate: read a.txt":                               `task {"prompt":"read a.txt"}`,
		"ask a sub-agent to read a.txt":                      `task {"prompt":"read a.txt"}`,
		`call echo {"a": {"b": "; then"}}`:                   `echo {"a": {"b": "; then"}}`,
		"call echo":                                          `echo {}`,
		`call echo {"a": }`:                                  ``,
		"read a.txt then click #b":                           `read_file {"path":"a.txt"}|browser_click {"selector":"#b"}`,
		"read a.txt, and then click #b; list files":          `read_file {"path":"a.txt"}|browser_click {"selector":"#b"}|list_directory {}`,
		"Open example.org and click #buy, take a screenshot": `navigate {"url":"https://example.org"}|browser_click {"selector":"#buy"}|screenshot {}`,
		"Take a screenshot. Then read a.txt.":                `screenshot {}|read_file {"path":"a.txt"}`,
		"Do this:\n1. read a.txt\n2) click #b\n":             `read_file {"path":"a.txt"}|browser_click {"selector":"#b"}`,
		"- list files\n- read b":                             `list_directory {}|read_file {"path":"b"}`,
		"at once: read a; read b":                            `read_file {"path":"a"} & read_file {"path":"b"}`,
		"in parallel, read a and click #b":                   `read_file {"path":"a"} & browser_click {"selector":"#b"}`,
		"1. at once: read a; read b\n2. click #c":            `read_file {"path":"a"} & read_file {"path":"b"}|browser_click {"selector":"#c"}`,
		"click #next 3 times":                                `browser_click {"selector":"#next"}|browser_click {"selector":"#next"}|browser_click {"selector":"#next"}`,
		"what is the weather":                                ``,
		"use the second card":                                ``,
		"":                                                   ``,
		"thanks":                                             ``,
		"open sesame":                                        ``,
		"read a.txt then sing":                               `read_file {"path":"a.txt"}|?sing`,
	} {
		var steps []string
		for _, s := range parse(message) {
			if s.strange != "" {
				steps = append(steps, "?"+s.strange)
				continue
			}
			calls, missing := s.calls(&chatwire.Request{Tools: everything})
			if missing != nil {
				t.Errorf("%q: no tool for %+v", message, *missing)
			}
			var at []string
			for _, c := range calls {
				at = append(at, c.Function.Name+" "+c.Function.Arguments)
			}
			steps = append(steps, strings.Join(at, " & "))
		}
		if got := strings.Join(steps, "|"); got != want {
			t.Errorf("%q\n got %s\nwant %s", message, got, want)
		}
	}
}

// TestToolsOfOtherNames says which tool and parameters are taken where they are called differently.
func TestToolsOfOtherNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message, want string
		tools         []string
	}{
		{"click #a", `click {"selector":"#a"}`, []string{"browser_click", "click"}},
		{"click #a", `web__click_element {"element":"#a"}`, []string{`web__click_element {"properties":{"element":{"type":"string"}}}`}},
		{"read a", `fs__read_file {"file_path":"a"}`, []string{"browser_read", `fs__read_file {"properties":{"offset":{},"file_path":{}}}`}},
		{"read a", `read {"which":"a"}`, []string{`read {"required":["which"],"properties":{"which":{"type":"string"}}}`}},
		{"read a", `read_file {"path":"a"}`, []string{"read_file not a schema"}},
		{"list files", `list_directory {"path":"."}`, []string{`list_directory {"required":["path"],"properties":{"path":{"type":"string"}}}`}},
		{"run `x`", `bash {"cmd":"x"}`, []string{`bash {"properties":{"cmd":{}}}`}},
		{"delegate: x", `task {"description":"x","prompt":"x"}`, []string{`task {"properties":{"description":{},"prompt":{}}}`}},
		{"delegate: x", `task {"task":"x"}`, []string{`task {"properties":{"agent":{},"task":{}}}`}},
		{"call echo {}", `mcp__echo {}`, []string{"mcp__echo"}},
		{"call echo {}", `echo {}`, []string{"workspace_read"}}, // which may only not have been looked up
		{"call echo {}", ``, nil},
		{"read a", ``, []string{"browser_read", "spread_file"}},
		{"click #a", ``, nil},
	} {
		plan := parse(c.message)
		if len(plan) != 1 {
			t.Fatalf("%q is %d steps", c.message, len(plan))
		}
		calls, missing := plan[0].calls(&chatwire.Request{Tools: offer(c.tools...)})
		got := ""
		if missing == nil {
			got = fmt.Sprint(calls[0].Function.Name, " ", calls[0].Function.Arguments)
		}
		if got != c.want {
			t.Errorf("%q of %v: got %s, want %s", c.message, c.tools, got, c.want)
		}
	}
}

// FuzzParse looks for messages that break the parser, and for calls that are no JSON.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"read a then click #b", "at once: a; b", "1. read a\n2. call x {\"a\":1}", "write 'a' to b 3 times", "say 5 words", "{'`\"", "then then ;;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		plan := parse(message)
		if len(plan) > maxSteps {
			t.Errorf("%d steps", len(plan))
		}
		for _, s := range plan {
			if s.strange == "" && len(s.commands) == 0 {
				t.Error("a step that is nothing")
			}
			calls, _ := s.calls(&chatwire.Request{Tools: everything})
			for _, c := range calls {
				var args map[string]any
				if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil {
					t.Errorf("arguments %q: %v", c.Function.Arguments, err)
				}
			}
		}
		answer(&chatwire.Request{Messages: []chatwire.Message{{Role: "user", Content: chatwire.Content(message)}}, Tools: everything})
	})
}
