package agent_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const toolsPath = "/api/tools"

func TestTools(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		out := newOutside(t)
		pages := object{"type": "mcp", "name": "pages", "base_url": out.mcp.URL, "api_key": "k-1", "headers": object{"X-Team": "t-1"}}
		within(t, newFixture(t, out.known(cluster.Options{Database: database})), map[string]func(*testing.T, *fixture){
			"that are saved are in every run, with their secrets": func(t *testing.T, w *fixture) {
				p := w.person(t)
				mine := object{"type": "mcp", "name": "mine", "base_url": out.mcp.URL, "api_key": "key-of-" + p.name, "headers": object{"X-Team": "team"}, "prompts": []string{"house"}}
				if r := p.post(0, toolsPath, mine); r.Status != 200 {
					t.Fatal(r.Raw)
				}
				p.model(modeltest.Call("find", `{"query":"milk"}`), modeltest.Say("Found."))
				run := p.invoke(1, "Find milk.")
				if e := run.Until("tool_call_result"); e.Result != `found {"query":"milk"}` {
					t.Error(e.Data)
				}
				run.Complete("stop")
				if !out.asked("POST /, Bearer key-of-" + p.name + ", team") {
					t.Error("the server was not asked with its key and header")
				}
				p.says(string(p.asked()[0].Body), "Be brief.") // the prompt that was chosen
			},
			"that are switched off are in no run": func(t *testing.T, w *fixture) {
				p := w.person(t)
				saved := p.post(0, toolsPath, pages)
				off := object{"type": "mcp", "name": "pages", "base_url": out.mcp.URL, "enabled": false}
				raw := `{"type":"mcp","name":"pages","base_url":"` + off["base_url"].(string) + `","enabled":false}`
				if r := w.Gateways[1].Do(t, http.MethodPut, toolsPath+"/"+saved.Body["id"].(string), p.name, raw, nil); r.Status != 200 {
					t.Fatal(r.Raw)
				}
				p.model(modeltest.Say("Hello."))
				p.invoke(0, "Hello.").Complete("stop")
				p.notOffered("find", "publish")
			},
			"of two servers have the server's name where they collide": func(t *testing.T, w *fixture) {
				p := w.person(t)
				p.model(modeltest.Call("b__find", `{"query":"x"}`), modeltest.Say("Found."))
				run := p.invoke(0, "Find.", object{"tools": []object{
					{"type": "mcp", "name": "a", "base_url": out.mcp.URL}, {"type": "mcp", "name": "b", "base_url": out.mcp.URL},
				}}, asks("b__find"))
				p.waiting(run)
				p.offered("mcp__a__find", "mcp__b__find", "mcp__a__publish", "mcp__b__publish")
				p.notOffered("find", "a__find")
				p.resume(1, run.Session, results(decision("call_0", "approved"))).Complete("stop")
			},
			"that write are not run in ask and plan mode": func(t *testing.T, w *fixture) {
				for _, mode := range []string{"ask", "plan"} {
					p := w.person(t)
					p.model(modeltest.Call("find", `{}`), modeltest.Call("publish", `{}`), modeltest.Say("Done."))
					p.post(1, toolsPath, object{"type": "mcp", "name": "a", "base_url": out.mcp.URL, "trusted": true})
					run := p.invoke(0, "Publish.", object{"mode": mode})
					if e := run.Until("tool_call_result"); e.Result != "found {}" {
						t.Errorf("%s: %s", mode, e.Data)
					}
					if e := run.Until("tool_call_result"); strings.Contains(e.Result, "published") {
						t.Errorf("%s: %s", mode, e.Data)
					}
					run.Complete("stop")
				}
			},
			"of a server that is not there do not keep a run from the others": func(t *testing.T, w *fixture) {
				p := w.person(t)
				p.model(modeltest.Call("find", `{}`), modeltest.Say("Found."))
				run := p.invoke(0, "Find.", object{"tools": []object{
					{"type": "mcp", "name": "gone", "base_url": "http://127.0.0.1:1/mcp"}, {"type": "mcp", "name": "a", "base_url": out.mcp.URL},
				}})
				if e := run.Until("tool_call_result"); e.Result != "found {}" {
					t.Error(e.Data)
				}
				run.Complete("stop")
				p.says(string(p.asked()[0].Body), "gone")
			},
			"of a provider act with the request's token, also after a resume elsewhere": func(t *testing.T, w *fixture) {
				p := w.person(t)
				p.model(modeltest.Call("github_list_repositories", `{}`), modeltest.Say("One."))
				run := p.invoke(0, "What do I have?", object{"tools": []object{{"type": "oauth", "name": "github", "access_token": "gho-token-of-github"}}},
					asks("github_list_repositories"))
				p.waiting(run)
				again := p.resume(1, run.Session, results(decision("call_0", "approved")))
				p.says(again.Until("tool_call_result").Result, "ana/garden")
				again.Complete("stop")
			},
			"of another user are absent": func(t *testing.T, w *fixture) {
				p, other := w.person(t), w.person(t)
				id := p.post(0, toolsPath, pages).Body["id"].(string)
				other.refused(other.get(1, toolsPath+"/"+id), 404, "TOOL_NOT_FOUND")
				if status := other.delete(0, toolsPath+"/"+id); status != 404 {
					t.Errorf("DELETE: %d", status)
				}
				raw := `{"type":"mcp","name":"pages","base_url":"` + out.mcp.URL + `/x"}`
				if r := w.Gateways[0].Do(t, http.MethodPut, toolsPath+"/"+id, other.name, raw, nil); r.Status != 404 {
					t.Errorf("PUT: %d", r.Status)
				}
				if r := other.get(0, toolsPath); len(r.Body["tools"].([]any)) != 0 {
					t.Error(r.Raw)
				}
				if r := p.get(1, toolsPath+"/"+id); r.Body["base_url"] != out.mcp.URL {
					t.Error(r.Raw)
				}
				other.refused(other.post(0, toolsPath+"/call", object{"tool_name": "find"}), 409, "NODE_NOT_CONNECTED")
				if r := p.post(1, toolsPath+"/call", object{"tool_name": "find", "tool_args": object{"query": "x"}}); r.Body["success"] != true {
					t.Error(r.Raw)
				}
			},
		})
	})
}
