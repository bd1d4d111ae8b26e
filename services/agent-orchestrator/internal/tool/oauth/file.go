package oauth

import (
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// file gives the model a file's content: text as it is, anything else as an artifact.
func file(name string, r *reply) tool.Result {
	if utf8.Valid(r.body) && !strings.Contains(string(r.body), "\x00") {
		return tool.Result{Text: string(r.body)}
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = http.DetectContentType(r.body)
	}
	a := tool.Artifact{Type: "file", MIMEType: kind, Name: path.Base(name), Data: r.body}
	if strings.HasPrefix(kind, "image/") {
		a.Type = "image"
	}
	return tool.Result{Text: fmt.Sprintf("%s is no text: %d bytes of %s", a.Name, len(r.body), kind), Artifacts: []tool.Artifact{a}}
}
