package skills_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestSkills(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*person){
		"are created, read, changed and deleted on any pod":       crud,
		"of other agents load unchanged":                          foreign,
		"may not have the same name, unless one replaces another": names,
		"come with the server, and can be switched off":           bundled,
		"are refused with the place of the fault":                 faults,
		"are listed in pages":                                     pages,
		"of another user do not exist":                            otherUser,
		"are read again from the storage":                         synced,
		"that are changed at once end as one of them":             together,
	})
}

func crud(p *person) {
	made := p.add(0, "report", "# Report\nDo this.\n", "version: 2.0", "author: Ana", "tags: [x]", "triggers: [the report]", "priority: 7")
	for name, want := range map[string]any{
		"name": "report", "description": "What report is for.", "version": "2.0", "author": "Ana", "priority": 7.0, "enabled": true,
		"source": "upload", "content": "# Report\nDo this.\n",
	} {
		if made[name] != want {
			p.Errorf("%s is %v, want %v", name, made[name], want)
		}
	}
	for pod, path := range []string{"/skill/report", "/api/skill/report"} {
		got := p.ok(200, pod, "GET", path, nil)
		if got["content"] != made["content"] || got["updated_at"] != made["updated_at"] || len(got["files"].([]any)) != 0 || got["tags"].([]any)[0] != "x" {
			p.Errorf("%s: %v", path, got)
		}
	}
	p.has(p.names(1, ""), "report")
	changed := p.ok(200, 1, "PATCH", "/api/skill/report", object{"enabled": false, "priority": -1})
	if changed["enabled"] != false || changed["priority"] != -1.0 {
		p.Errorf("changed: %v", changed)
	}
	p.has(p.names(0, "?enabled=false"), "report")
	p.lacks(p.names(0, "?enabled=true"), "report")
	// What was set stays, unless the new front matter says something else.
	put := p.ok(200, 0, "PUT", "/api/skill/report", object{"content": text("report", "New.", "priority: 3")})
	if put["enabled"] != false || put["priority"] != 3.0 || put["content"] != "New." || put["version"] != "1.0.0" {
		p.Errorf("put: %v", put)
	}
	p.refused(p.do(1, "PUT", "/api/skill/report", object{"content": text("other", "x")}), 422, "SKILL_INVALID")
	p.refused(p.do(1, "PUT", "/api/skill/nothing", object{"content": text("nothing", "x")}), 404, "SKILL_NOT_FOUND")
	if got := p.ok(200, 1, "DELETE", "/skill/report", nil); got["message"] != "Skill deleted" {
		p.Errorf("deleted: %v", got)
	}
	for pod := range 2 {
		p.refused(p.do(pod, "GET", "/api/skill/report", nil), 404, "SKILL_NOT_FOUND")
		p.refused(p.do(pod, "DELETE", "/api/skill/report", nil), 404, "SKILL_NOT_FOUND")
		p.refused(p.do(pod, "PATCH", "/api/skill/report", object{"enabled": true}), 404, "SKILL_NOT_FOUND")
		p.refused(p.do(pod, "GET", "/api/skill/report/files/SKILL.md", nil), 404, "SKILL_NOT_FOUND")
	}
	if _, err := os.Stat(filepath.Join(p.folder(), "report", "SKILL.md")); !os.IsNotExist(err) {
		p.Errorf("the file is still there: %v", err)
	}
}

// folder is where the storage has the person's skills.
func (p *person) folder() string { return filepath.Join(p.f.Blobs, "users", p.name, "skills") }

func foreign(p *person) {
	const main = "---\nname: pdf-tools\ndescription: \"Work with PDF: read, fill in.\"\nlicense: Apache-2.0\nallowed-tools: Bash(python:*) Read\n" +
		"metadata:\n  author: somebody\n  level: 3\ncompatibility: needs python\n---\n\n# PDF\nSee references/forms.md.\n"
	r := p.upload(0, "/api/skill", "pdf.zip", p.pack("pdf-tools/", "", "pdf-tools/SKILL.md", main, "pdf-tools/references/forms.md", "# Forms",
		"pdf-tools/scripts/run me.py", "print(1)", "pdf-tools/assets/x.bin", "\x00\xff"))
	if r.Status != 201 {
		p.Fatalf("%d %s", r.Status, r.Raw)
	}
	got := p.ok(200, 1, "GET", "/api/skill/pdf-tools", nil)
	meta := got["metadata"].(object)
	if meta["license"] != "Apache-2.0" || meta["allowed-tools"] != "Bash(python:*) Read" || meta["compatibility"] != "needs python" ||
		meta["metadata"].(object)["level"] != 3.0 || got["content"] != "# PDF\nSee references/forms.md.\n" {
		p.Errorf("%v", got)
	}
	var files []string
	for _, f := range got["files"].([]any) {
		files = append(files, f.(object)["path"].(string))
	}
	if strings.Join(files, " ") != "assets/x.bin references/forms.md scripts/run me.py" {
		p.Errorf("files: %v", files)
	}
	for path, want := range map[string]string{
		"SKILL.md": main, "references/forms.md": "# Forms", "scripts/run me.py": "print(1)", "assets/x.bin": "\x00\xff",
	} {
		for pod, prefix := range []string{"/api", ""} {
			if r := p.do(pod, "GET", prefix+"/skill/pdf-tools/files/"+(&url.URL{Path: path}).EscapedPath(), nil); r.Status != 200 || r.Raw != want {
				p.Errorf("%s: %d %q", path, r.Status, r.Raw)
			}
		}
	}
	for _, path := range []string{"nothing", "../pdf-tools/SKILL.md", "..%2F..%2Fworkspace", "references", ""} {
		if r := p.do(1, "GET", "/api/skill/pdf-tools/files/"+path, nil); r.Status != 404 {
			p.Errorf("%s: %d %s", path, r.Status, r.Raw)
		}
	}
	// A new SKILL.md leaves the other files.
	p.ok(200, 1, "PUT", "/api/skill/pdf-tools", object{"content": text("pdf-tools", "Short.")})
	if got := p.ok(200, 0, "GET", "/api/skill/pdf-tools", nil); len(got["files"].([]any)) != 3 || len(got["metadata"].(object)) != 0 {
		p.Errorf("%v", got)
	}
	// A form with a SKILL.md replaces all of it.
	if r := p.upload(1, "/skill?replace=true", "SKILL.md", []byte(text("pdf-tools", "Alone."))); r.Status != 201 || len(r.Body["files"].([]any)) != 0 {
		p.Errorf("%d %s", r.Status, r.Raw)
	}
	p.refused(p.do(0, "GET", "/api/skill/pdf-tools/files/references/forms.md", nil), 404, "FILE_NOT_FOUND")
	if _, err := os.Stat(filepath.Join(p.folder(), "pdf-tools", "references", "forms.md")); !os.IsNotExist(err) {
		p.Errorf("the old file is still there: %v", err)
	}
}

func names(p *person) {
	p.add(0, "one", "first")
	p.refused(p.do(1, "POST", "/api/skill", object{"content": text("one", "second")}), 409, "SKILL_EXISTS")
	p.refused(p.do(1, "POST", "/api/skill?replace=false", object{"content": text("ONE", "second")}), 409, "SKILL_EXISTS")
	p.ok(201, 1, "POST", "/api/skill?replace=true", object{"content": text("one", "second")})
	if got := p.ok(200, 0, "GET", "/api/skill/one", nil); got["content"] != "second" {
		p.Errorf("%v", got)
	}
	if r := p.do(0, "POST", "/api/skill?replace=perhaps", object{"content": text("one", "x")}); r.Status != 400 {
		p.Errorf("%d %s", r.Status, r.Raw)
	}
}

func bundled(p *person) {
	if got := p.names(0, "?source=bundled"); got != "chrome-extension desktop skill-creator" {
		p.Error(got)
	}
	got := p.ok(200, 1, "GET", "/api/skill/skill-creator", nil)
	if got["source"] != "bundled" || got["enabled"] != true || len(got["files"].([]any)) != 1 {
		p.Errorf("%v", got)
	}
	p.has(p.do(0, "GET", "/api/skill/skill-creator/files/references/checklist.md", nil).Raw, "Before you hand a skill over")
	p.refused(p.do(0, "DELETE", "/api/skill/desktop", nil), 409, "SKILL_BUNDLED")
	p.refused(p.do(0, "PUT", "/api/skill/desktop", object{"content": text("desktop", "x")}), 409, "SKILL_BUNDLED")
	p.ok(200, 0, "PATCH", "/api/skill/desktop", object{"enabled": false})
	if got := p.ok(200, 1, "GET", "/api/skill/desktop", nil); got["enabled"] != false || got["priority"] != -10.0 {
		p.Errorf("%v", got)
	}
	if got := p.other().ok(200, 1, "GET", "/api/skill/desktop", nil); got["enabled"] != true {
		p.Error("it is switched off for somebody else")
	}
	// A user's own skill hides the one of its name until it is deleted.
	p.add(1, "desktop", "My own way.")
	if got := p.ok(200, 0, "GET", "/api/skill/desktop", nil); got["content"] != "My own way." || got["source"] != "upload" || got["enabled"] != true {
		p.Errorf("%v", got)
	}
	p.ok(200, 0, "DELETE", "/api/skill/desktop", nil)
	if got := p.ok(200, 1, "GET", "/api/skill/desktop", nil); got["source"] != "bundled" || got["enabled"] != false {
		p.Errorf("%v", got)
	}
}

func faults(p *person) {
	r := p.do(0, "POST", "/api/skill", object{"content": "---\nname: a\ndescription: Use when: asked\n---\n"})
	p.refused(r, 422, "SKILL_INVALID")
	if r.Body["line"] != 3.0 || r.Body["key"] != "description" {
		p.Errorf("%s", r.Raw)
	}
	r = p.upload(1, "/api/skill", "SKILL.md", []byte("---\ndescription: x\nname: no good\n---\n"))
	p.refused(r, 422, "SKILL_INVALID")
	if r.Body["line"] != 3.0 || r.Body["key"] != "name" {
		p.Errorf("%s", r.Raw)
	}
	for what, body := range map[string]any{
		"no content": object{}, "a number": object{"content": 7}, "a list": []int{}, "nothing": nil,
	} {
		if r := p.do(0, "POST", "/api/skill", body); r.Status != 400 {
			p.Errorf("%s: %d %s", what, r.Status, r.Raw)
		}
	}
	for path, body := range map[string]any{"/api/skill/desktop": object{"enabled": "yes"}, "/skill/desktop": object{"priority": 1.5}} {
		if r := p.do(1, "PATCH", path, body); r.Status != 400 {
			p.Errorf("%v: %d %s", body, r.Status, r.Raw)
		}
	}
	if r := p.upload(0, "/api/skill/sync", "x", nil); r.Status != 415 {
		p.Errorf("a form elsewhere: %d %s", r.Status, r.Raw)
	}
	for _, query := range []string{"?limit=201", "?limit=-1", "?limit=x", "?source=nowhere", "?enabled=x"} {
		if r := p.do(0, "GET", "/api/skill"+query, nil); r.Status != 400 {
			p.Errorf("%s: %d %s", query, r.Status, r.Raw)
		}
	}
}

func pages(p *person) {
	for _, name := range []string{"c", "a", "b"} {
		p.add(0, name, "x")
	}
	first := p.ok(200, 0, "GET", "/api/skill?source=upload&limit=2", nil)
	if first["total"] != 3.0 || len(first["skills"].([]any)) != 2 {
		p.Errorf("%v", first)
	}
	if got := p.names(1, "?source=upload&limit=2&cursor="+first["next_cursor"].(string)); got != "c" {
		p.Error(got)
	}
}

func otherUser(p *person) {
	p.add(0, "mine", "secret")
	other := p.other()
	for path, method := range map[string]string{"/api/skill/mine": "GET", "/skill/mine": "DELETE", "/api/skill/mine/files/SKILL.md": "GET"} {
		other.refused(other.do(1, method, path, nil), 404, "SKILL_NOT_FOUND")
	}
	other.refused(other.do(1, "PATCH", "/api/skill/mine", object{"enabled": false}), 404, "SKILL_NOT_FOUND")
	other.refused(other.do(1, "PUT", "/api/skill/mine", object{"content": text("mine", "x")}), 404, "SKILL_NOT_FOUND")
	other.lacks(other.names(0, ""), "mine")
	if r := p.f.Gateways[0].Do(p, "GET", "/api/skill", "", "", nil); r.Status != 400 {
		p.Errorf("nobody: %d %s", r.Status, r.Raw)
	}
}

func synced(p *person) {
	write := func(path, content string) {
		file := filepath.Join(p.folder(), filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			p.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			p.Fatal(err)
		}
	}
	p.add(0, "kept", "Kept.")
	p.add(0, "gone", "Gone.")
	p.ok(200, 0, "PATCH", "/api/skill/kept", object{"enabled": false})
	write("found/SKILL.md", text("found", "Found.", "enabled: true"))
	write("found/references/x.md", "more")
	write("broken/SKILL.md", "no front matter")
	write("misnamed/SKILL.md", text("another", "x"))
	write("stray.txt", "x")
	if err := os.RemoveAll(filepath.Join(p.folder(), "gone")); err != nil {
		p.Fatal(err)
	}
	got := p.ok(200, 1, "POST", "/api/skill/sync", object{})
	if got["success"] != false || got["loaded"] != 2.0 || len(got["errors"].([]any)) != 3 {
		p.Errorf("%v", got)
	}
	for _, e := range got["errors"].([]any) {
		path, why := e.(object)["path"].(string), e.(object)["error"].(string)
		if want := map[string]string{"broken/SKILL.md": "front matter", "misnamed/SKILL.md": "another", "stray.txt": "folder"}[path]; want == "" || !strings.Contains(why, want) {
			p.Errorf("%s: %s", path, why)
		}
	}
	found := p.ok(200, 0, "GET", "/api/skill/found", nil)
	if found["source"] != "local" || found["content"] != "Found." || len(found["files"].([]any)) != 1 {
		p.Errorf("%v", found)
	}
	if kept := p.ok(200, 0, "GET", "/api/skill/kept", nil); kept["source"] != "upload" || kept["enabled"] != false {
		p.Errorf("%v", kept)
	}
	p.refused(p.do(0, "GET", "/api/skill/gone", nil), 404, "SKILL_NOT_FOUND")
	// A file that somebody changed is not served as the one that was read, until it is read again.
	write("found/references/x.md", "changed")
	p.refused(p.do(0, "GET", "/api/skill/found/files/references/x.md", nil), 409, "SKILL_CHANGED")
	for _, path := range []string{"broken", "misnamed", "stray.txt"} {
		if err := os.RemoveAll(filepath.Join(p.folder(), path)); err != nil {
			p.Fatal(err)
		}
	}
	if got := p.ok(200, 0, "POST", "/skill/sync", nil); got["success"] != true || got["loaded"] != 2.0 {
		p.Errorf("%v", got)
	}
	if r := p.do(1, "GET", "/api/skill/found/files/references/x.md", nil); r.Raw != "changed" {
		p.Errorf("%d %s", r.Status, r.Raw)
	}
}

func together(p *person) {
	p.add(0, "race", "0")
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			body := strings.Repeat(string(rune('a'+i)), 100)
			r := p.upload(i%2, "/api/skill?replace=true", "x.zip", p.pack("SKILL.md", text("race", body), "same.txt", body, body[:i+1]+".txt", body))
			if r.Status != 201 {
				p.Errorf("%d %s", r.Status, r.Raw)
			}
		})
	}
	work.Wait()
	got := p.ok(200, 1, "GET", "/api/skill/race", nil)
	body := got["content"].(string)
	if len(got["files"].([]any)) != 2 || len(body) != 100 {
		p.Errorf("%v", got)
	}
	for _, f := range got["files"].([]any) {
		if r := p.do(0, "GET", "/api/skill/race/files/"+f.(object)["path"].(string), nil); r.Raw != body {
			p.Errorf("%v is of another upload: %d %s", f, r.Status, r.Raw)
		}
	}
	left, err := os.ReadDir(filepath.Join(p.folder(), "race"))
	files := 0
	for _, f := range left {
		if !strings.HasSuffix(f.Name(), ".attrs") {
			files++
		}
	}
	if err != nil || files != 3 {
		p.Errorf("%v, %v", left, err)
	}
}
