package agent_test

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// logs is everything that pods log.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// What must be read nowhere but where it belongs. Each is unlike anything that the pods say themselves.
const (
	keyOfModel, keyOfServer, headerOfServer = "sk-modelkey-51fe", "mcpkey-77aa", "headervalue-02bd"
	keyInAddress                            = "addresskey-61d3"
	tokenOfProvider, refreshOfProvider      = "accesstoken-9c1d", "refreshtoken-4e0f"
	thePrompt, theArguments, theResult      = "promptmark-aa01", "argumentmark-bb02", "resultmark-cc03"
	theAnswer, theReason, theOrder, theFile = "answermark-dd04", "reasonmark-ee05", "ordermark-ff06", "filemark-0a07"
	theErrorOfModel, theErrorOfNode         = "modelerrormark-1b08", "nodeerrormark-2c09"
)

var (
	keys    = []string{keyOfModel, keyOfServer, headerOfServer, keyInAddress, tokenOfProvider, refreshOfProvider}
	private = append([]string{
		thePrompt, theArguments, theResult, theAnswer, theReason, theOrder, theFile, theErrorOfModel, theErrorOfNode,
	}, keys...)
)

// TestSecretsAreNotLoggedOrStoredReadable does everything that a user does with marks in all that is private, and then looks for
// them: for keys in the database and in what REST tells, for all of it in logs and metrics.
func TestSecretsAreNotLoggedOrStoredReadable(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		heard := &logs{}
		out := newOutside(t)
		w := newFixture(t, out.known(cluster.Options{Database: database, Logger: slog.New(slog.NewJSONHandler(heard, &slog.HandlerOptions{Level: slog.LevelDebug}))}))
		p := w.person(t)
		told := p.useEverything(out)
		for _, g := range w.Gateways {
			told += g.Get(t, "/metrics", p.name).Raw
		}
		absent(t, "what REST tells", told, keys)
		absent(t, "logs", heard.String(), private)
		for _, admin := range []string{w.Gateways[0].Admin, w.Gateways[1].Admin, w.Orchestrators[0].Admin, w.Orchestrators[1].Admin} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+admin+"/metrics", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, body, _ := fetch(t, req)
			absent(t, "metrics", body, private)
		}
		if !strings.Contains(heard.String(), "agent-orchestrator serves") {
			t.Error("the logs were not heard")
		}
		for _, o := range w.Orchestrators {
			o.Stop(t) // what SQLite still had in memory is in its files now
		}
		kept := stored(t, w.Database())
		absent(t, "the database", kept, keys)
		for _, mark := range []string{thePrompt, theResult} {
			if !strings.Contains(kept, mark) && !strings.Contains(kept, inHex(mark)) {
				t.Errorf("the database was not read: %s is not in it", mark)
			}
		}
	})
}

func absent(t *testing.T, where, text string, marks []string) {
	t.Helper()
	for _, mark := range marks {
		for how, form := range map[string]string{"": mark, " in hex": inHex(mark)} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s is in %s%s: …%s…", mark, where, how, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}

// inHex is what PostgreSQL shows of a mark in a column of bytes.
func inHex(mark string) string { return strings.ToUpper(hex.EncodeToString([]byte(mark))) }

// useEverything returns what REST told.
func (p *person) useEverything(out *outside) string {
	p.Helper()
	var told strings.Builder
	note := func(r cluster.Response) cluster.Response {
		told.WriteString(r.Raw)
		return r
	}
	model := object{"llm_config": object{"apiKey": keyOfModel}}
	saved := note(p.post(0, toolsPath, object{
		"type": "mcp", "name": "pages", "base_url": out.mcp.URL + "?key=" + keyInAddress, "api_key": keyOfServer, "headers": object{"X-Team": headerOfServer},
	}))
	note(p.post(1, toolsPath, object{"type": "oauth", "name": "github", "access_token": tokenOfProvider, "refresh_token": refreshOfProvider}))
	note(p.post(1, toolsPath+"/mcp/validate", object{"name": "x", "base_url": "http://127.0.0.1:1/", "api_key": keyOfServer}))
	begun := note(p.post(0, toolsPath+"/oauth/authorize", object{"provider": "github", "redirect_uri": "https://a.example"}))
	refused := note(p.post(1, toolsPath+"/oauth/exchange", object{"provider": "github", "code": tokenOfProvider, "state": begun.Body["state"]}))
	if !strings.Contains(refused.Raw, "bad_verification_code") {
		p.Errorf("GitHub was not asked: %s", refused.Raw)
	}
	note(p.post(1, toolsPath+"/call", object{"tool_name": "find", "tool_args": object{"query": theArguments}}))

	node := p.bare(0, "chrome", "click")
	node.Serve(func(c cluster.ToolCall) string {
		if strings.Contains(string(c.Params.Arguments), "fail") {
			return `{"isError":true,"content":[{"type":"text","text":"` + theErrorOfNode + `"}]}`
		}
		return cluster.Text(theResult)
	})
	args := object{"n": 1, "text": theArguments}
	p.w.model.When(func(r modeltest.Request) bool { return r.Key() == keyOfModel },
		modeltest.Say(theAnswer).Then(modeltest.Calls(
			modeltest.ToolCall{ID: "yes", Name: "click", Args: args}, modeltest.ToolCall{ID: "no", Name: "click", Args: args})),
		modeltest.Calls(
			modeltest.ToolCall{ID: "fails", Name: "click", Args: object{"fail": theArguments}},
			modeltest.ToolCall{ID: "unknown", Name: theArguments, Args: args},
			modeltest.ToolCall{ID: "bad", Name: "click", Args: "{" + theArguments},
			modeltest.ToolCall{ID: "finds", Name: "find", Args: object{"query": theArguments}},
			modeltest.ToolCall{ID: "lists", Name: "github_list_repositories", Args: object{}},
			modeltest.ToolCall{ID: "writes", Name: "workspace_write", Args: object{"path": theFile + ".txt", "content": theResult}},
			modeltest.ToolCall{ID: "task", Name: "task", Args: object{"description": theArguments, "prompt": thePrompt}}),
		modeltest.Say(theAnswer), // of the sub-agent
		modeltest.Say("Cut: ", theAnswer).Cut(1), modeltest.Say("Cut: ", theAnswer),
		modeltest.Raw("data: {"+theErrorOfModel+"\n\n"),
		modeltest.Status(401, nil, `{"error":{"message":"`+theErrorOfModel+` `+keyOfModel+`"}}`))
	run := p.w.Gateways[0].Invoke(p, p.name, p.body(asks("click"), model, object{"message": thePrompt}))
	p.waiting(run)
	again := p.w.Gateways[1].Resume(p, p.name, p.body(model, object{"session_id": run.Session, "human_order": theOrder},
		results(decision("yes", "approved"), decision("no", "rejected", object{"reason": theReason}))))
	p.waiting(again)
	last := p.w.Gateways[0].Resume(p, p.name, object{ // with the model, and its key, that was kept
		"session_id": run.Session, "tool_interrupt_config": object{}, "tool_call_results": []object{decision("fails", "approved")},
	})
	last.Complete("stop")
	for _, s := range []*cluster.Stream{run, again, last} {
		told.WriteString(s.Raw())
	}
	for g := range 2 {
		failed := p.w.Gateways[g].Invoke(p, p.name, p.body(model, object{"message": thePrompt, "session_id": run.Session}))
		failed.Complete("error")
		told.WriteString(failed.Raw())
	}
	for _, path := range []string{"", "/" + run.Session, "/" + run.Session + "/messages", "/" + run.Session + "/events?follow=false"} {
		note(p.get(1, sessionsPath+path))
	}
	note(p.get(0, toolsPath))
	note(p.get(1, toolsPath+"/"+saved.Body["id"].(string)))
	return told.String()
}

// stored is all that a database holds.
func stored(t *testing.T, database string) string {
	t.Helper()
	if path, ok := strings.CutPrefix(database, "sqlite://"); ok {
		return files(t, filepath.Dir(path))
	}
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	query.Set("xmlbinary", "hex")
	at.RawQuery = query.Encode()
	db, err := sql.Open("pgx", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var all sql.NullString
	rows, err := db.QueryContext(t.Context(), `SELECT query_to_xml('SELECT * FROM ' || quote_ident(tablename), true, true, '')::text FROM pg_tables WHERE schemaname = 'public'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		if err := rows.Scan(&all); err != nil {
			t.Fatal(err)
		}
		b.WriteString(all.String)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		b.Write(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
