package offlinemodel

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// action is what a command asks for.
type action string

const (
	screenshot action = "take a screenshot"
	readFile   action = "read a file"
	listFiles  action = "list files"
	writeFile  action = "write a file"
	runCommand action = "run a command"
	click      action = "click"
	typeText   action = "type"
	navigate   action = "open an address"
	getText    action = "read the page"
	listTabs   action = "list tabs"
	addTodo    action = "add a todo"
	showTodos  action = "show the todos"
	delegate   action = "hand a task to a sub-agent"
	loadSkill  action = "load a skill"
	skillFile  action = "read a file of a skill"
	saveMemory action = "save a memory"
	findMemory action = "search memories"
	dropMemory action = "delete a memory"
	callTool   action = "call a tool by name"
	lookUp     action = "look something up in documents"
	listBases  action = "list knowledge bases"
	sayWords   action = "say many words" // needs no tool
)

// command is one thing to do. Only the fields of its action are set.
type command struct {
	action action
	// subject is the path, selector, address, command line, task, or name of the tool.
	subject string
	text    string
	args    json.RawMessage // of callTool, an object
	full    bool            // of screenshot
	words   int             // of sayWords
	source  string          // as it was written
}

// pattern is one way to say something. Groups are named after the fields that they fill.
type pattern struct {
	action action
	expr   *regexp.Regexp
}

// A quoted text may be in any of three quotes; \x60 is a backquote.
const quoted = `(?:'(?P<text1>[^']*)'|"(?P<text2>[^"]*)"|\x60(?P<text3>[^\x60]*)\x60)`

// patterns are tried in this order.
var patterns = compile([]saying{
	{loadSkill, `(?:load|activate|use)(?: the| my)? skill (?P<subject>[\w-]+)`},
	{skillFile, `(?:read|show|cat)(?: the)?(?: file)? (?P<file>\S+) (?:of|from|in)(?: the| my)? skill (?P<subject>[\w-]+)`},
	{saveMemory, `remember(?: that| this)?:? (?P<subject>.+)`},
	{findMemory, `(?:what do you (?:remember|know)|search (?:your )?memor(?:y|ies))(?: about| for|:)? (?P<subject>.+)`},
	{dropMemory, `forget(?: the)?(?: memory)? (?P<subject>\S+)`},
	{callTool, `(?:call|use)(?: the)?(?: tool)? (?P<subject>[\w.:/-]+)(?: with)?(?P<args> ?\{.*\})?`},
	{screenshot, `(?:(?:take|make|capture|grab|get) )?(?:an? |the |another )?(?P<full>full[- ]page )?(?:screenshot|screen ?shot|picture of the (?:screen|page))\b.*`},
	{sayWords, `(?:say|write|print|speak|stream) (?P<words>\d+) words`},
	{writeFile, `(?:write|save|put) ` + quoted + ` (?:in|into|to)(?: the)?(?: file)? (?P<subject>.+)`},
	{writeFile, `(?:create|make|write)(?: an?| the)? file (?P<subject>\S+) (?:with|containing)(?: the text)? ` + quoted},
	{lookUp, `(?:search|look into|ask)(?: in)?(?: the| my)? (?:knowledge(?: bases?)?|documents?)(?: for| about|:) (?P<subject>.+)`},
	{lookUp, `(?:look up|search for|find) (?P<subject>.+?) in (?:the|my) (?:knowledge(?: bases?)?|documents?)`},
	{listBases, `(?:list|show)(?: me)?(?: the| my| all)? (?:knowledge(?: bases?)?|documents)`},
	{listTabs, `(?:list|show)(?: me)?(?: the| my| all)?(?: open)? tabs`},
	{showTodos, `(?:list|show|read)(?: me)?(?: the| my)? (?:todos|todo list|tasks)`},
	{listFiles, `(?:list|show)(?: me)?(?: all)?(?: the| my)? (?:files|directory|folder|contents?)(?: (?:in|of|at|under))?(?: the)?(?: directory| folder)?(?: (?P<subject>.+))?`},
	{listFiles, `(?:list|ls)(?: (?P<subject>\S+))?`},
	{readFile, `(?:read|cat|open|print|show)(?: me)?(?: the| my)?(?: text of the| contents? of the)? file (?P<subject>.+)`},
	{getText, `(?:get|show|read)(?: me)? the text(?: of(?: the)?(?: page| element)?(?: (?P<subject>.+))?)?`},
	{readFile, `(?:read|cat)(?: me)?(?: the| my)? (?P<subject>.+)`},
	{addTodo, `add(?: an?| the)? todo(?: item)?:? (?P<subject>.+)`},
	{addTodo, `add (?P<subject>.+) to (?:the|my) (?:todos|todo list)`},
	{delegate, `(?:delegate|task)(?: this)?(?: to a sub-?agent)?:? (?P<subject>.+)`},
	{delegate, `(?:ask|let|tell) a sub-?agent(?: to)? (?P<subject>.+)`},
	{navigate, `(?:open|visit|browse(?: to)?|navigate(?: to)?|go to)(?: the)?(?: page| site| address| url)? (?P<subject>\S+)`},
	{typeText, `(?:type|enter|fill in|fill) ` + quoted + ` (?:in|into|to)(?: the)?(?: field| input)? (?P<subject>.+)`},
	{click, `(?:click|press|tap)(?: on)?(?: the)?(?: button| link| element)? (?P<subject>.+)`},
	{runCommand, `(?:run|execute)(?: the)?(?: shell)?(?: command)? (?P<subject>.+)`},
})

type saying struct {
	action action
	expr   string
}

func compile(in []saying) []pattern {
	out := make([]pattern, len(in))
	for i, p := range in {
		out[i] = pattern{p.action, regexp.MustCompile(`(?is)^` + p.expr + `$`)}
	}
	return out
}

var polite = regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|ok|now|first|next|finally|also|and|then|please|kindly|can you|could you|would you|will you|i want you to|you should)\b[\s,:!]*)+`)

// parseCommand reads one command; ok is false where it is none.
func parseCommand(text string) (c command, ok bool) {
	text = strings.TrimSpace(text)
	source := text
	text = polite.ReplaceAllString(text, "")
	text = strings.TrimSpace(strings.TrimRight(text, ".!? "))
	for _, p := range patterns {
		m := p.expr.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		c := command{action: p.action, source: source}
		for i, group := range p.expr.SubexpNames() {
			c.set(group, m[i])
		}
		if c.valid() {
			return c, true
		}
	}
	return command{}, false
}

func (c *command) set(group, value string) {
	switch strings.TrimRight(group, "123") {
	case "subject":
		if value = unquote(value); value != "" {
			c.subject = value
		}
	case "text":
		if value != "" {
			c.text = value
		}
	case "file":
		c.text = value
	case "args":
		if value != "" {
			c.args = json.RawMessage(strings.TrimSpace(value))
		}
	case "full":
		c.full = value != ""
	case "words":
		c.words, _ = strconv.Atoi(value) // 0 is invalid
	}
}

// valid rejects what a pattern takes for a command by mistake, so that another may have it.
func (c *command) valid() bool {
	switch c.action {
	case callTool:
		if c.args == nil {
			c.args = json.RawMessage("{}")
		}
		return json.Valid(c.args)
	case sayWords:
		return c.words > 0 && c.words <= maxWords
	case navigate:
		return strings.ContainsAny(c.subject, ".:/")
	case listFiles, screenshot, listTabs, listBases, showTodos, getText:
		return true
	}
	return c.subject != ""
}

// unquote takes what is between quotes, and of a path or selector what people put behind it.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{"`", `"`, "'"} {
		if len(s) >= 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) && strings.Count(s, q) == 2 {
			return s[1 : len(s)-1]
		}
	}
	return s
}
