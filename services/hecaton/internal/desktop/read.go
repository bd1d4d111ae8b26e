package desktop

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

const (
	defaultRead = 256 << 10
	// maxRead keeps the answer inside a frame: JSON writes one control character in six bytes.
	maxRead = 1 << 20
)

// readFile reads text from a file: path, and offset and limit in bytes. The answer's content is the text; where there is
// more, a second text says how to read on.
func (t *Tools) readFile(_ context.Context, call node.Call) (node.Result, error) {
	var args struct {
		Path   string `json:"path"`
		Offset int64  `json:"offset"`
		Limit  *int64 `json:"limit"`
	}
	if err := call.Bind(&args); err != nil {
		return node.Result{}, err
	}
	limit := int64(defaultRead)
	if args.Limit != nil {
		limit = *args.Limit
	}
	switch {
	case args.Path == "":
		return node.Result{}, node.InvalidParams("arguments.path is missing; give the path of a file")
	case args.Offset < 0:
		return node.Result{}, node.InvalidParams("arguments.offset is %d, it must be a number of bytes from 0", args.Offset)
	case limit < utf8.UTFMax || limit > maxRead:
		return node.Result{}, node.InvalidParams("arguments.limit is %d, it must be a number of bytes from %d to %d", limit, utf8.UTFMax, maxRead)
	}
	name, err := t.inside(args.Path)
	if err != nil {
		return node.Errorf("%v", err), nil
	}
	f, info, err := t.openRegular(name, os.O_RDONLY)
	if err != nil {
		return t.explain(args.Path, err), nil
	}
	defer f.Close()
	if args.Offset > info.Size() {
		return node.Errorf("%q has %d bytes, offset %d is behind its end", args.Path, info.Size(), args.Offset), nil
	}
	data, err := io.ReadAll(io.NewSectionReader(f, args.Offset, limit))
	if err != nil {
		return t.explain(args.Path, err), nil
	}
	start, end := wholeRunes(data, args.Offset == 0, args.Offset+int64(len(data)) >= info.Size())
	if !utf8.Valid(data[start:end]) {
		return node.Errorf("%q is not UTF-8 text but %s; run_command can convert it", args.Path, http.DetectContentType(data)), nil
	}
	return part(string(data[start:end]), args.Offset+int64(start), args.Offset+int64(end), info.Size()), nil
}

// wholeRunes leaves out the halves of characters that an offset or a limit has cut.
func wholeRunes(b []byte, first, last bool) (start, end int) {
	end = len(b)
	if !first {
		for start < end && start < utf8.UTFMax-1 && !utf8.RuneStart(b[start]) {
			start++
		}
	}
	if last {
		return start, end
	}
	for back := 1; back < utf8.UTFMax && back <= end-start; back++ {
		if i := end - back; utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:end]) {
				end = i
			}
			break
		}
	}
	return start, end
}

func part(text string, from, to, size int64) node.Result {
	r := node.Text(text)
	r.Fields = map[string]any{"size": size, "offset": from, "truncated": to < size}
	if to < size {
		r.Fields["next_offset"] = to
		r.Content = append(r.Content, node.TextContent{
			Text: fmt.Sprintf("\n[bytes %d to %d of %d; read on with offset %d]", from, to, size, to)})
	}
	return r
}
