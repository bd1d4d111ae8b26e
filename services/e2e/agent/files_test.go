package agent_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const filesPath = "/api/workspace/files"

// file sends a request about a file.
func (p *person) file(method string, gateway int, path string, content []byte, header ...string) (int, string, http.Header) {
	p.Helper()
	req, err := http.NewRequestWithContext(p.Context(), method, "http://"+p.w.Gateways[gateway].HTTP+path, bytes.NewReader(content))
	if err != nil {
		p.Fatal(err)
	}
	req.Header.Set("X-User-Id", p.name)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return fetch(p.T, req)
}

func TestWorkspaceFiles(t *testing.T) {
	t.Parallel()
	within(t, newFixture(t, cluster.Options{}), map[string]func(*testing.T, *fixture){
		"are put, read, listed and deleted on any gateway": func(t *testing.T, w *fixture) {
			p := w.person(t)
			large := make([]byte, 3<<20)
			if _, err := rand.Read(large); err != nil {
				t.Fatal(err)
			}
			for path, content := range map[string][]byte{"/uploads/a.txt": []byte("hello"), "/uploads/b%20c/%C3%A9.bin": large, "/empty": {}} {
				if status, body, _ := p.file("PUT", 0, filesPath+path, content, "Content-Type", "text/x-test"); status != 200 {
					t.Errorf("PUT %s: %d %s", path, status, body)
				}
				status, body, header := p.file("GET", 1, filesPath+path, nil)
				if status != 200 || body != string(content) || header.Get("Content-Type") != "text/x-test" || header.Get("ETag") == "" {
					t.Errorf("GET %s: %d, %d bytes, %v", path, status, len(body), header)
				}
				if status, _, _ := p.file("GET", 0, filesPath+path, nil, "If-None-Match", header.Get("ETag")); status != 304 {
					t.Errorf("GET %s again: %d", path, status)
				}
			}
			r := p.get(1, filesPath+"?prefix=uploads/")
			list, _ := r.Body["files"].([]any)
			if len(list) != 2 || list[0].(object)["path"] != "uploads/a.txt" || list[1].(object)["path"] != "uploads/b c/é.bin" || list[0].(object)["size"] != 5.0 {
				t.Errorf("listed: %s", r.Raw)
			}
			first := p.get(0, filesPath+"?limit=1")
			second := p.get(1, filesPath+"?limit=1&cursor="+first.Body["next_cursor"].(string))
			if len(second.Body["files"].([]any)) != 1 || second.Body["files"].([]any)[0].(object)["path"] != "uploads/a.txt" {
				t.Errorf("pages: %s, %s", first.Raw, second.Raw)
			}
			if status, _, _ := p.file("DELETE", 1, filesPath+"/uploads/a.txt", nil); status != 200 {
				t.Errorf("DELETE: %d", status)
			}
			for g := range 2 { // although the other pod had it in its cache
				p.refused(p.get(g, filesPath+"/uploads/a.txt"), 404, "FILE_NOT_FOUND")
			}
			if status, _, _ := p.file("DELETE", 0, filesPath+"/uploads/a.txt", nil); status != 404 {
				t.Errorf("a second DELETE: %d", status)
			}
		},
		"changed on one pod are read anew on the other": func(t *testing.T, w *fixture) {
			p := w.person(t)
			for i, content := range []string{"one", "two", "three"} {
				p.file("PUT", i%2, filesPath+"/f", []byte(content))
				for g := range 2 {
					if _, body, _ := p.file("GET", g, filesPath+"/f", nil); body != content {
						t.Errorf("gateway %d reads %q, want %q", g, body, content)
					}
				}
			}
		},
		"of another user cannot be told from none, whatever the path": func(t *testing.T, w *fixture) {
			p, other := w.person(t), w.person(t)
			p.file("PUT", 0, filesPath+"/secret.txt", []byte("mine"))
			other.file("PUT", 0, filesPath+"/own.txt", []byte("own"))
			for _, path := range []string{
				"/secret.txt", "/../" + p.name + "/workspace/secret.txt", "/%2e%2e/" + p.name + "/workspace/secret.txt",
				"/..%2f..%2f" + p.name + "%2fworkspace%2fsecret.txt", "//" + p.name + "/secret.txt", "/users/" + p.name + "/workspace/secret.txt",
			} {
				for _, method := range []string{"GET", "DELETE", "HEAD"} {
					status, body, _ := other.file(method, 1, filesPath+path, nil)
					if status < 300 || strings.Contains(body, "mine") {
						t.Errorf("%s %s: %d %s", method, path, status, body)
					}
				}
			}
			if r := other.get(0, filesPath); strings.Contains(r.Raw, "secret") {
				t.Errorf("listed: %s", r.Raw)
			}
			for _, prefix := range []string{"..", "../", "/", "../" + p.name} {
				if r := other.get(0, filesPath+"?prefix="+prefix); strings.Contains(r.Raw, "secret") {
					t.Errorf("listed with %s: %s", prefix, r.Raw)
				}
			}
			if _, body, _ := p.file("GET", 1, filesPath+"/secret.txt", nil); body != "mine" {
				t.Errorf("the file is %q", body)
			}
			// They are where docs/protocols/zeus-agents.md#workspace says.
			if kept, err := os.ReadFile(filepath.Join(w.Blobs, "users", p.name, "workspace", "secret.txt")); err != nil || string(kept) != "mine" {
				t.Errorf("kept is %q, %v", kept, err)
			}
		},
		"that are pictures of a result are references, and inline as well": func(t *testing.T, w *fixture) {
			p := w.person(t)
			picture := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 1<<20)...)
			data := base64.StdEncoding.EncodeToString(picture)
			p.bare(0, "chrome", "screenshot").Serve(func(cluster.ToolCall) string {
				return `{"content":[{"type":"text","text":"Taken."},{"type":"image","data":"` + data + `","mimeType":"image/png"}]}`
			})
			p.model(modeltest.Call("screenshot", `{}`), modeltest.Say("Here it is."))
			run := p.invoke(1, "Take a screenshot.")
			result := run.Until("tool_call_result")
			run.Complete("stop")
			replayed := w.Gateways[0].Events(t, p.name, run.Session, result.Seq-1).Expect("tool_call_result")
			for _, e := range []cluster.Event{result, replayed} {
				var got struct {
					Content []struct {
						Type, MimeType, Data, URL string
						Path                      string `json:"file_path"`
						Size                      int
					}
				}
				if err := json.Unmarshal([]byte(e.Data), &got); err != nil || len(got.Content) != 1 {
					t.Fatalf("%.300s: %v", e.Data, err)
				}
				c := got.Content[0]
				if c.Type != "image" || c.MimeType != "image/png" || c.Size != len(picture) || c.Data != data {
					t.Errorf("%.300s", e.Data)
				}
				for g := range 2 {
					if status, body, header := p.file("GET", g, c.URL, nil); status != 200 || body != string(picture) || header.Get("Content-Type") != "image/png" {
						t.Errorf("%s on gateway %d: %d, %d bytes", c.URL, g, status, len(body))
					}
				}
			}
			// Neither the model nor the conversation gets its bytes.
			messages := p.get(0, sessionsPath+"/"+run.Session+"/messages").Raw
			if asked := string(p.asked()[1].Body); strings.Contains(asked, data[:100]) || strings.Contains(messages, data[:100]) {
				t.Error("the picture is in the conversation")
			}
			p.says(p.told("call_0"), "Taken.", "sandbox-output/")
		},
		"have the whole of a result that is too long for the model": func(t *testing.T, w *fixture) {
			p := w.person(t)
			long := strings.Repeat("all work and no play ", 250_000) // 5 MB
			p.bare(0, "chrome", "read").Serve(func(cluster.ToolCall) string { return cluster.Text(long) })
			p.model(modeltest.Call("read", `{}`), modeltest.Say("Long."))
			run := p.invoke(1, "Read it.")
			e := run.Until("tool_call_result")
			run.Complete("stop")
			var got struct {
				Path string `json:"file_path"`
			}
			if err := json.Unmarshal([]byte(e.Data), &got); err != nil || got.Path == "" || len(e.Result) > 70<<10 {
				t.Fatalf("%d bytes: %.300s: %v", len(e.Result), e.Data, err)
			}
			if told := p.told("call_0"); told != e.Result {
				t.Errorf("the model was told %d bytes, the client %d", len(told), len(e.Result))
			}
			p.says(e.Result, got.Path, "5250000")
			if _, body, _ := p.file("GET", 0, filesPath+"/"+got.Path, nil); body != long {
				t.Errorf("the file has %d bytes", len(body))
			}
		},
	})
}
