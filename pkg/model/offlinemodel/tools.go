package offlinemodel

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
)

// names are what tools that do a thing are called, the more usual first. A name on offer may have more in front of it
// (browser_click, files__read_file), unless it says little by itself: those begin with = here.
var names = map[action][]string{
	screenshot: {"screenshot", "take_screenshot", "capture_screenshot", "screen_capture"},
	readFile:   {"read_file", "read_text_file", "file_read", "open_file", "=read", "workspace_read"},
	listFiles:  {"list_directory", "list_files", "list_dir", "=ls", "=list", "workspace_list"},
	writeFile:  {"write_file", "write_text_file", "file_write", "create_file", "=write", "workspace_write"},
	runCommand: {"run_command", "desktop_exec", "execute_command", "run_shell", "=shell", "=bash", "=exec"},
	click:      {"click", "click_element", "tap"},
	typeText:   {"type", "type_text", "fill", "input_text"},
	navigate:   {"navigate", "navigate_to", "open_url", "goto", "go_to"},
	getText:    {"get_text", "page_text", "read_page"},
	listTabs:   {"list_tabs"},
	addTodo:    {"write_todos"},
	showTodos:  {"read_todos"},
	delegate:   {"=task"},
	loadSkill:  {"load_skill"},
	skillFile:  {"read_skill_file"},
	saveMemory: {"save_memory"},
	findMemory: {"search_memory"},
	dropMemory: {"delete_memory"},
	lookUp:     {"search_knowledge_base"},
	listBases:  {"list_knowledge_bases"},
}

// find returns the tool on offer that does what the command asks for.
func find(c command, tools []chatwire.Tool) (chatwire.Function, bool) {
	wanted := names[c.action]
	if c.action == callTool {
		wanted = []string{c.subject}
	}
	for _, exact := range []bool{true, false} {
		for _, name := range wanted {
			name, alone := strings.CutPrefix(name, "=")
			for _, t := range tools {
				if t.Function.Name == name || !exact && !alone && endsIn(t.Function.Name, name) {
					return t.Function, true
				}
			}
		}
	}
	return chatwire.Function{}, false
}

// endsIn reports whether a name ends in the words of another.
func endsIn(name, words string) bool {
	front, ok := strings.CutSuffix(strings.ToLower(name), strings.ToLower(words))
	return ok && (front == "" || strings.IndexByte("_-./:", front[len(front)-1]) >= 0)
}

// The names of parameters, the more usual first.
var (
	pathNames     = []string{"path", "file_path", "filename", "file", "directory", "dir", "name"}
	contentNames  = []string{"content", "contents", "text", "data"}
	commandNames  = []string{"command", "cmd", "script", "code"}
	selectorNames = []string{"selector", "element", "target", "ref"}
	textNames     = []string{"text", "value", "content"}
	urlNames      = []string{"url", "address", "uri"}
	queryNames    = []string{"query", "question", "text"}
	taskNames     = []string{"prompt", "task", "description"}
)

// arguments writes what the command says in the tool's own parameters.
func arguments(c command, f chatwire.Function) string {
	if c.action == callTool {
		return string(c.args)
	}
	s := readSchema(f.Parameters)
	args := map[string]any{}
	set := func(names []string, value string) {
		if value != "" {
			args[s.pick(names)] = value
		}
	}
	switch c.action {
	case readFile, listFiles:
		set(pathNames, c.subject)
	case writeFile:
		set(pathNames, c.subject)
		args[s.pick(contentNames)] = c.text
	case runCommand:
		set(commandNames, c.subject)
	case click, getText:
		set(selectorNames, c.subject)
	case typeText:
		set(selectorNames, c.subject)
		args[s.pick(textNames)] = c.text
	case navigate:
		set(urlNames, address(c.subject))
	case screenshot:
		if c.full {
			args[s.pick([]string{"full_page", "fullPage"})] = true
		}
	case lookUp:
		set(queryNames, c.subject)
	case addTodo:
		args["todos"] = []any{map[string]any{"content": c.subject, "status": "pending"}}
	case loadSkill:
		args["name"] = c.subject
	case skillFile:
		args["name"], args["path"] = c.subject, c.text
	case saveMemory:
		args["content"] = c.subject
	case findMemory:
		args["query"] = c.subject
	case dropMemory:
		args["id"] = c.subject
	case delegate:
		set(taskNames, c.subject)
		if s.has("description") && args["description"] == nil {
			args["description"] = beginning(c.subject, 40)
		}
	}
	if len(args) == 0 && c.action == listFiles && s.requires("path") {
		args["path"] = "."
	}
	b, err := json.Marshal(args)
	if err != nil {
		return "{}" // strings and numbers are always JSON
	}
	return string(b)
}

// address completes what people leave out.
func address(s string) string {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "about:") || strings.HasPrefix(s, "data:") {
		return s
	}
	return "https://" + s
}

// schema is what counts of a tool's JSON Schema.
type schema struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// readSchema reads what it can: a schema that is none has no properties.
func readSchema(b json.RawMessage) (s schema) {
	if json.Unmarshal(b, &s) != nil {
		return schema{}
	}
	return s
}

func (s schema) has(name string) bool {
	_, ok := s.Properties[name]
	return ok
}

func (s schema) requires(name string) bool {
	return slices.Contains(s.Required, name)
}

// pick chooses the first name that the schema has; where it has none of them, the one string that it requires; else the
// most usual.
func (s schema) pick(names []string) string {
	for _, n := range names {
		if s.has(n) {
			return n
		}
	}
	if len(s.Required) == 1 && s.Properties[s.Required[0]].Type == "string" {
		return s.Required[0]
	}
	return names[0]
}
