package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"mime"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// The files of the user's workspace and the devices' last screenshots are resources for clients that ask for what agents have (package
// agents).

// Files reads a user's workspace (package agentapi).
type Files interface {
	ListFiles(ctx context.Context, user ids.UserID, limit int, cursor string) (files []*agentv1.File, next string, err error)
	// ReadFile fails with TOO_LARGE where a file has more than limit bytes.
	ReadFile(ctx context.Context, user ids.UserID, path string, limit int) (*agentv1.File, []byte, error)
}

const (
	// workspaceURI is that of the workspace; a file's path follows, escaped as in a URL.
	workspaceURI = "hecaton://workspace/"
	// filesPage is how many files one answer lists, and maxFile how large one may be that is read.
	filesPage = 250
	maxFile   = 8 << 20
)

// resources are the methods of a server that has resources.
func (a *API) resources() map[string]method {
	if a.Files == nil {
		return nil
	}
	return map[string]method{
		"resources/list":           {both, auth.Anything, asked(a.listResources)},
		"resources/read":           {both, auth.Anything, asked(a.readResource)},
		"resources/templates/list": {both, auth.Anything, asked(listTemplates)},
		"resources/subscribe":      {sessions, auth.Anything, asked(a.subscribe(true))},
		"resources/unsubscribe":    {sessions, auth.Anything, asked(a.subscribe(false))},
	}
}

// hints appends what the stateless revision says of lists.
func (q *query) hints(b []byte) []byte {
	if q.stateless() {
		return append(b, cacheHints...)
	}
	return b
}

// listResources answers resources/list: the devices' screenshots come before the files, which have pages.
func (a *API) listResources(ctx context.Context, q *query) {
	cursor, err := fileCursor(wire.Member(q.msg.Params, "cursor"))
	if err != nil {
		q.fail(wire.Invalid("Invalid params: " + err.Error()))
		return
	}
	files, next, err := a.Files.ListFiles(ctx, q.from.User, filesPage, cursor)
	if err != nil {
		q.fail(internal(err))
		return
	}
	b := []byte(`"resources":[`)
	if cursor == "" {
		if b, err = q.screens(ctx, b); err != nil {
			q.fail(internal(err))
			return
		}
	}
	for _, f := range files {
		b = append(appendFile(b, f), ',')
	}
	b = append(bytes.TrimSuffix(b, []byte(",")), ']')
	if next != "" {
		b = append(b, `,"nextCursor":"`...)
		b = append(base64.RawURLEncoding.AppendEncode(b, []byte(next)), '"')
	}
	q.result(catalogue.Result{Members: [][]byte{q.hints(b)}})
}

func fileCursor(raw []byte) (string, error) {
	if raw == nil {
		return "", nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(string(jsonrpc.Text(raw)))
	if err != nil || len(text) == 0 || !utf8.Valid(text) {
		return "", errCursor
	}
	return string(text), nil
}

// fileURI is that of a file of the workspace.
func fileURI(file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return workspaceURI + strings.Join(parts, "/")
}

func appendFile(b []byte, f *agentv1.File) []byte {
	b = jsonrpc.AppendString(append(b, `{"uri":`...), fileURI(f.GetPath()))
	b = jsonrpc.AppendString(append(b, `,"name":`...), f.GetPath())
	b = jsonrpc.AppendString(append(b, `,"title":`...), path.Base(f.GetPath()))
	if f.GetContentType() != "" {
		b = jsonrpc.AppendString(append(b, `,"mimeType":`...), f.GetContentType())
	}
	b = strconv.AppendInt(append(b, `,"size":`...), int64(f.GetSize()), 10)
	if at := f.GetUpdatedAt(); at.IsValid() {
		b = jsonrpc.AppendString(append(b, `,"annotations":{"lastModified":`...), at.AsTime().UTC().Format(time.RFC3339))
		b = append(b, '}')
	}
	return append(b, '}')
}

// readResource answers resources/read.
func (a *API) readResource(ctx context.Context, q *query) {
	uri := jsonrpc.StringMember(q.msg.Params, "uri")
	if node, ok := screenOf(uri); ok {
		a.readScreen(ctx, q, uri, node)
		return
	}
	a.readFile(ctx, q, uri)
}

func (a *API) readFile(ctx context.Context, q *query, uri string) {
	escaped, ok := strings.CutPrefix(uri, workspaceURI)
	name, err := url.PathUnescape(escaped)
	if !ok || err != nil || name == "" {
		q.fail(noResource(uri, "a resource's uri is "+workspaceURI+"<path> or "+deviceURI+"<device>"+screenPath))
		return
	}
	file, data, err := a.Files.ReadFile(ctx, q.from.User, name, maxFile)
	switch {
	case errors.Is(err, errs.TooLarge):
		q.fail(wire.Invalid("The resource is larger than " + strconv.Itoa(maxFile) + " bytes"))
		return
	case missing(err):
		q.fail(noResource(uri, "there is no such file"))
		return
	case err != nil:
		q.fail(internal(err))
		return
	}
	b := jsonrpc.AppendString([]byte(`"contents":[{"uri":`), uri)
	if file.GetContentType() != "" {
		b = jsonrpc.AppendString(append(b, `,"mimeType":`...), file.GetContentType())
	}
	if readable(file.GetContentType(), data) {
		b = jsonrpc.AppendString(append(b, `,"text":`...), string(data))
	} else {
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"blob":"`...), data), '"')
	}
	q.result(catalogue.Result{Members: [][]byte{q.hints(append(b, "}]"...))}})
}

// missing reports whether a file is not there: also where its path is none.
func missing(err error) bool {
	var reasoned *errs.Error
	if errors.As(err, &reasoned) {
		return reasoned.Reason == errs.FileNotFound || reasoned.Reason == errs.InvalidArgument
	}
	return status.Code(err) == codes.NotFound || status.Code(err) == codes.InvalidArgument
}

func noResource(uri, why string) *wire.Error {
	e := wire.Invalid("Resource not found: " + why)
	e.Data = append(jsonrpc.AppendString([]byte(`{"uri":`), uri), '}')
	return e
}

// readable reports whether a file is given as text.
func readable(contentType string, data []byte) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	text := strings.HasPrefix(kind, "text/") || kind == "application/json" || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") ||
		kind == "application/xml" || kind == "application/javascript" || kind == "application/yaml"
	return err == nil && text && utf8.Valid(data)
}

// listTemplates answers resources/templates/list.
func listTemplates(_ context.Context, q *query) {
	b := []byte(`"resourceTemplates":[{"uriTemplate":"` + workspaceURI + `{+path}","name":"workspace","title":"A file of the workspace",` +
		`"description":"A file that the user or an agent has put into the user's workspace."},` +
		`{"uriTemplate":"` + deviceURI + `{device}` + screenPath + `","name":"screenshot","title":"The last screenshot of a device",` +
		`"description":"The last picture that a tool of the device answered with."}]`)
	q.result(catalogue.Result{Members: [][]byte{q.hints(b)}})
}
