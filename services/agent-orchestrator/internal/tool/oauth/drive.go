package oauth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const driveFields = "id,name,mimeType,modifiedTime,size,webViewLink"

var driveActions = []action{
	reads("google_drive_search_files", "Searches the user's files at Google Drive by name and content.",
		`{"query":{"type":"string","description":"Words"},"page_size":{"type":"integer","description":"At most 100; 20 where it is left out"}}`, []string{"query"}, driveSearch),
	reads("google_drive_get_file", "Reads a file of Google Drive; a document of Google's as text, a table as CSV.",
		`{"file_id":{"type":"string"}}`, []string{"file_id"}, driveGet),
	writes("google_drive_upload_file", "Puts a new text file into Google Drive.",
		`{"name":{"type":"string"},"content":{"type":"string"},"mime_type":{"type":"string","description":"text/plain where it is left out"},"folder_id":{"type":"string","description":"The user's own root where it is left out"}}`,
		[]string{"name", "content"}, driveUpload),
}

type driveFile struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	MIMEType string `json:"mimeType"`
	Modified string `json:"modifiedTime,omitempty"`
	Size     string `json:"size,omitempty"`
	Link     string `json:"webViewLink,omitempty"`
}

func driveSearch(ctx context.Context, c *client, in struct {
	Query string `json:"query"`
	Size  int    `json:"page_size"`
},
) (tool.Result, error) {
	words := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(in.Query)
	r, err := c.get(ctx, "/drive/v3/files", query(
		"q", "(name contains '"+words+"' or fullText contains '"+words+"') and trashed = false",
		"pageSize", strconv.Itoa(within(in.Size, 20, 100)), "fields", "files("+driveFields+")"))
	if err != nil {
		return tool.Result{}, err
	}
	var found struct {
		Files []driveFile `json:"files"`
	}
	err = r.decode(&found)
	return show(found.Files), err
}

// driveExport says what Google's own kinds of files are read as.
var driveExport = map[string]string{
	"application/vnd.google-apps.document":     "text/plain",
	"application/vnd.google-apps.presentation": "text/plain",
	"application/vnd.google-apps.spreadsheet":  "text/csv",
}

func driveGet(ctx context.Context, c *client, in struct {
	ID string `json:"file_id"`
},
) (tool.Result, error) {
	address, err := under("/drive/v3/files", in.ID)
	if err != nil {
		return tool.Result{}, err
	}
	r, err := c.get(ctx, address, query("fields", driveFields))
	if err != nil {
		return tool.Result{}, err
	}
	var meta driveFile
	if err := r.decode(&meta); err != nil {
		return tool.Result{}, err
	}
	if as := driveExport[meta.MIMEType]; as != "" {
		r, err = c.get(ctx, address+"/export", query("mimeType", as))
	} else {
		r, err = c.get(ctx, address, query("alt", "media"))
	}
	if err != nil {
		return tool.Result{}, err
	}
	return file(meta.Name, r), nil
}

func driveUpload(ctx context.Context, c *client, in struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	Type    string `json:"mime_type"`
	Folder  string `json:"folder_id"`
},
) (tool.Result, error) {
	meta := map[string]any{"name": in.Name, "mimeType": cmp.Or(in.Type, "text/plain")}
	if in.Folder != "" {
		meta["parents"] = []string{in.Folder}
	}
	head, err := json.Marshal(meta)
	if err != nil {
		return tool.Result{}, err
	}
	body, contentType, err := related(head, in.Content)
	if err != nil {
		return tool.Result{}, err
	}
	r, err := c.do(ctx, request{
		method: http.MethodPost, path: "/upload/drive/v3/files", query: query("uploadType", "multipart", "fields", driveFields),
		header: map[string]string{"Content-Type": contentType}, body: body,
	})
	if err != nil {
		return tool.Result{}, err
	}
	var made driveFile
	err = r.decode(&made)
	return show(made), err
}

// related is a file with its description (RFC 2387). The boundary is a hash of the content, so that equal files are sent as
// equal bytes, and no file can contain its own boundary.
func related(head []byte, content string) ([]byte, string, error) {
	sum := sha256.Sum256([]byte(content))
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary("hecaton" + hex.EncodeToString(sum[:16])); err != nil {
		return nil, "", err
	}
	for _, part := range []struct{ kind, text string }{
		{"application/json; charset=UTF-8", string(head)}, {"application/octet-stream", content},
	} {
		p, err := w.CreatePart(textproto.MIMEHeader{"Content-Type": {part.kind}})
		if err != nil {
			return nil, "", err
		}
		if _, err := p.Write([]byte(part.text)); err != nil {
			return nil, "", err
		}
	}
	err := w.Close()
	return b.Bytes(), "multipart/related; boundary=" + w.Boundary(), err
}
