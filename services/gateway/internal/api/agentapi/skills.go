package agentapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// Uploads are the paths at which POST takes a form with a file.
var Uploads = []string{"/api/skill", "/skill"}

// maxSkill is the largest body that brings a skill: of ten MiB, with what a zip, a form or JSON adds.
const maxSkill = 12 << 20

// skillRoutes adds the endpoints of skills (docs/skills.md). Who may only run agents may read them; what an agent is told by them
// is for who may do everything.
func (a *API) skillRoutes(mux *http.ServeMux, guard edge.Guard) {
	for _, at := range []string{"/api/skill", "/skill"} {
		mux.Handle("GET "+at, guard.User(auth.RunAgents, edge.NoBody, a.bothWays))
		mux.Handle("GET "+at+"/{name}", guard.User(auth.RunAgents, edge.NoBody, a.bothWays))
		mux.Handle("GET "+at+"/{name}/files/{path...}", guard.User(auth.RunAgents, edge.NoBody, a.getSkillFile))
		mux.Handle("POST "+at, guard.User(auth.Everything, maxSkill, a.createSkill))
		mux.Handle("PUT "+at+"/{name}", guard.User(auth.Everything, maxSkill, a.replaceSkill))
		mux.Handle(at, guard.User(auth.Everything, edge.Small, a.bothWays))
		mux.Handle(at+"/", guard.User(auth.Everything, edge.Small, a.bothWays))
	}
}

// createSkill takes a SKILL.md in JSON, or a form with a file that is one, or a zip.
func (a *API) createSkill(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	req, err := newSkill(r)
	if err != nil {
		return err
	}
	if req.Replace, err = flag(r.URL.Query(), "replace"); err != nil {
		return err
	}
	return a.saveSkill(w, r, user, req, http.StatusCreated)
}

// replaceSkill takes the new SKILL.md of a skill in JSON.
func (a *API) replaceSkill(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	content, err := skillContent(r)
	if err != nil {
		return err
	}
	req := &agentv1.SaveSkillRequest{Name: r.PathValue("name"), Body: &agentv1.SaveSkillRequest_SkillMd{SkillMd: content}}
	return a.saveSkill(w, r, user, req, http.StatusOK)
}

func (a *API) saveSkill(w http.ResponseWriter, r *http.Request, user ids.UserID, req *agentv1.SaveSkillRequest, status int) error {
	resp, err := a.skills.SaveSkill(auth.OnBehalf(r.Context(), user), req)
	if err != nil {
		return err
	}
	body, err := restJSON.Marshal(resp.GetSkill())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
	return nil
}

func newSkill(r *http.Request) (*agentv1.SaveSkillRequest, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "multipart/form-data" {
		content, err := skillContent(r)
		return &agentv1.SaveSkillRequest{Body: &agentv1.SaveSkillRequest_SkillMd{SkillMd: content}}, err
	}
	name, data, err := formFile(r)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(path.Ext(name), ".zip") || bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return &agentv1.SaveSkillRequest{Body: &agentv1.SaveSkillRequest_Zip{Zip: data}}, nil
	}
	return &agentv1.SaveSkillRequest{Body: &agentv1.SaveSkillRequest_SkillMd{SkillMd: data}}, nil
}

func skillContent(r *http.Request) ([]byte, error) {
	var b struct {
		Content *string `json:"content"`
	}
	if err := edge.Decode(r, &b); err != nil {
		return nil, err
	}
	if b.Content == nil {
		return nil, bad("content is required, the text of a SKILL.md")
	}
	return []byte(*b.Content), nil
}

// formFile returns the part `file` of a form. The limit of the body is that of all parts.
func formFile(r *http.Request) (name string, data []byte, err error) {
	form, err := r.MultipartReader()
	if err != nil {
		return "", nil, bad("the form cannot be read: its Content-Type has no boundary")
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return "", nil, bad("the form has no part named file")
		}
		if err != nil {
			return "", nil, edge.BodyError(err)
		}
		if part.FormName() != "file" {
			continue
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return "", nil, edge.BodyError(err)
		}
		return part.FileName(), data, nil
	}
}

// flag reads a member of a query that is true or false.
func flag(query url.Values, name string) (bool, error) {
	raw := query.Get(name)
	if raw == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(raw)
	if err != nil {
		return false, bad("%s must be true or false", name)
	}
	return on, nil
}

// getSkillFile answers with a file of a skill as it is. Like files of the workspace, no browser may run it in this origin.
func (a *API) getSkillFile(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	resp, err := a.skills.GetSkillFile(auth.OnBehalf(r.Context(), user), &agentv1.GetSkillFileRequest{
		Name: r.PathValue("name"), Path: r.PathValue("path"),
	})
	if err != nil {
		return err
	}
	data := resp.GetData()
	h := w.Header()
	h.Set("Content-Type", typeOf(r.PathValue("path"), data))
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(r.PathValue("path"))}))
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the client may be gone
	}
	return nil
}

// typeOf is the type of a file by its name, which may be any text of a skill.
func typeOf(name string, data []byte) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".json":
		return "application/json"
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".zip", ".csv":
		return mime.TypeByExtension(strings.ToLower(path.Ext(name)))
	}
	if utf8.Valid(data) {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
