package skills_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// fixture is a cluster of two gateways with an orchestrator each.
type fixture struct {
	*cluster.Cluster
	model *modeltest.Server
	users atomic.Int64
}

// onEachStorage runs tests with SQLite and with PostgreSQL.
func onEachStorage(t *testing.T, tests map[string]func(*person)) {
	t.Helper()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		f := &fixture{model: modeltest.New(t)}
		f.Cluster = cluster.Start(t, cluster.Options{Database: database, Orchestrators: 2, Paired: true, Model: f.model.URL()})
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(f.person(t))
			})
		}
	})
}

type object = map[string]any

// person is a user of its own.
type person struct {
	*testing.T
	f    *fixture
	name string
}

func (f *fixture) person(t *testing.T) *person {
	return &person{T: t, f: f, name: fmt.Sprintf("user-%d", f.users.Add(1))}
}

// other is somebody else.
func (p *person) other() *person { return p.f.person(p.T) }

// do sends a request with a JSON body; nil is none.
func (p *person) do(pod int, method, path string, body any) cluster.Response {
	p.Helper()
	raw := ""
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			p.Fatal(err)
		}
		raw = string(b)
	}
	return p.f.Gateways[pod].Do(p, method, path, p.name, raw, nil)
}

// ok is do where it must be answered with a status.
func (p *person) ok(status, pod int, method, path string, body any) object {
	p.Helper()
	r := p.do(pod, method, path, body)
	if r.Status != status {
		p.Fatalf("%s %s: %d %s, want %d", method, path, r.Status, r.Raw, status)
	}
	return r.Body
}

// refused fails unless a request was refused like this.
func (p *person) refused(r cluster.Response, status int, reason string) {
	p.Helper()
	if got, _ := r.Body["reason"].(string); r.Status != status || got != reason || r.Type != "application/problem+json" || r.Body["success"] != false {
		p.Errorf("got %d %s, want %d %s", r.Status, r.Raw, status, reason)
	}
}

// upload sends a form with a file.
func (p *person) upload(pod int, path, name string, data []byte) cluster.Response {
	p.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	w, err := form.CreateFormFile("file", name)
	if err != nil {
		p.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		p.Fatal(err)
	}
	if err := form.Close(); err != nil {
		p.Fatal(err)
	}
	return p.f.Gateways[pod].Do(p, http.MethodPost, path, p.name, b.String(), http.Header{"Content-Type": {form.FormDataContentType()}})
}

// pack makes a zip of pairs of names and contents.
func (p *person) pack(pairs ...string) []byte {
	p.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		if err != nil {
			p.Fatal(err)
		}
		if _, err := w.Write([]byte(pairs[i+1])); err != nil {
			p.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		p.Fatal(err)
	}
	return b.Bytes()
}

// text is a SKILL.md with more lines of front matter.
func text(name, body string, lines ...string) string {
	return "---\nname: " + name + "\ndescription: What " + name + " is for.\n" + strings.Join(append(lines, "---\n"), "\n") + body
}

// add creates a skill.
func (p *person) add(pod int, name, body string, lines ...string) object {
	p.Helper()
	return p.ok(201, pod, "POST", "/api/skill", object{"content": text(name, body, lines...)})
}

// names are those of a list.
func (p *person) names(pod int, query string) string {
	p.Helper()
	var names []string
	for _, s := range p.ok(200, pod, "GET", "/api/skill"+query, nil)["skills"].([]any) {
		names = append(names, s.(object)["name"].(string))
	}
	return strings.Join(names, " ")
}

// script says what the person's next requests to the model are answered with.
func (p *person) script(answers ...modeltest.Answer) {
	p.f.model.When(func(r modeltest.Request) bool { return r.Key() == p.name }, answers...)
}

// run invokes an agent and returns its events.
func (p *person) run(pod int, message string, members ...object) []cluster.Event {
	p.Helper()
	body := object{"message": message, "llm_config": object{"apiKey": p.name}}
	for _, m := range members {
		maps.Copy(body, m)
	}
	return p.f.Gateways[pod].Invoke(p, p.name, body).All()
}

// prompt is everything that the model was told in its last request.
func (p *person) prompt() string {
	p.Helper()
	told := ""
	for _, r := range p.f.model.Requests() {
		if r.Key() == p.name {
			told = ""
			for _, m := range r.Messages {
				told += m.Role + ": " + m.Content + "\n"
			}
		}
	}
	return told
}

// has fails unless a text has these parts.
func (p *person) has(text string, parts ...string) {
	p.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			p.Errorf("%q is not in %s", part, text)
		}
	}
}

// lacks fails if a text has one of these parts.
func (p *person) lacks(text string, parts ...string) {
	p.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			p.Errorf("%q is in %s", part, text)
		}
	}
}
