package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// page is how many tools one answer lists.
const page = 250

// list answers tools/list. The order is that of the names, and a page begins behind the last name of the one before: tools that
// come and go meanwhile shift nothing.
func (a *API) list(ctx context.Context, q *query) {
	after, err := readCursor(wire.Member(q.msg.Params, "cursor"))
	if err != nil {
		q.fail(wire.Invalid("Invalid params: " + err.Error()))
		return
	}
	tools, err := a.catalogue.View(q.from).List(ctx)
	if err != nil {
		q.fail(internal(err))
		return
	}
	from, found := slices.BinarySearchFunc(tools, after, func(t catalogue.Tool, name string) int { return strings.Compare(t.Name, name) })
	if found {
		from++
	}
	tools = tools[from:]
	next := ""
	if len(tools) > page {
		tools = tools[:page]
		next = tools[page-1].Name
	}
	q.result(catalogue.Result{Members: [][]byte{q.listed(tools, next)}})
}

// listed are the members of the result.
func (q *query) listed(tools []catalogue.Tool, next string) []byte {
	size := 128
	for i := range tools {
		size += len(tools[i].Name) + len(tools[i].Definition) + 16
	}
	b := append(make([]byte, 0, size), `"tools":[`...)
	for i := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendTool(b, &tools[i])
	}
	b = append(b, ']')
	if next != "" {
		b = append(b, `,"nextCursor":"`...)
		b = append(append(b, cursor(next)...), '"')
	}
	if q.stateless() {
		b = append(b, cacheHints...)
	}
	return b
}

func appendTool(b []byte, t *catalogue.Tool) []byte {
	b = append(append(append(b, `{"name":"`...), t.Name...), `",`...) // a name has nothing to escape
	return append(append(b, t.Definition...), '}')
}

const cursorPrefix = "after:"

func cursor(last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + last))
}

var errCursor = errors.New("the cursor is none of this list's")

// readCursor returns the name behind which a page begins; empty for the first page.
func readCursor(raw []byte) (string, error) {
	if raw == nil {
		return "", nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(string(jsonrpc.Text(raw)))
	last, ok := strings.CutPrefix(string(text), cursorPrefix)
	if err != nil || !ok || last == "" || strings.ContainsFunc(last, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errCursor
	}
	return last, nil
}
