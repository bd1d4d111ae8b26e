package builtin

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// defaultRead and maxRead bound a part of a file, so that it and the note behind it are told whole.
	defaultRead = 32 << 10
	maxRead     = 48 << 10
	// maxListed and maxListing bound a listing, in files and in bytes.
	maxListed  = 500
	maxListing = 48 << 10
)

type pathArgs struct {
	Path string `json:"path"`
}

type listArgs struct {
	Prefix string `json:"prefix"`
	After  string `json:"after"`
}

func (s *FileSource) list(ctx context.Context, in tool.Invocation, args listArgs) (tool.Result, error) {
	page, err := s.files.List(ctx, in.User, args.Prefix, maxListed, args.After)
	if err != nil {
		return refused(ctx, err)
	}
	if len(page.Files) == 0 {
		return textResult("No file of the workspace begins with %q.", args.Prefix), nil
	}
	var b strings.Builder
	more := page.Cursor
	for i, f := range page.Files {
		fmt.Fprintf(&b, "%s (%d bytes)\n", f.Path, f.Size)
		if b.Len() > maxListing && i+1 < len(page.Files) {
			more = f.Path
			break
		}
	}
	if more != "" {
		fmt.Fprintf(&b, "[there are more; go on with after %s]\n", strconv.Quote(more))
	}
	return tool.Result{Text: b.String()}, nil
}

type readArgs struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Limit  *int64 `json:"limit"`
}

func (s *FileSource) read(ctx context.Context, in tool.Invocation, args readArgs) (tool.Result, error) {
	limit := int64(defaultRead)
	if args.Limit != nil {
		limit = *args.Limit
	}
	switch {
	case args.Offset < 0:
		return tool.Result{}, invalid("arguments.offset is %d, it must be a number of bytes from 0", args.Offset)
	case limit < utf8.UTFMax || limit > maxRead:
		return tool.Result{}, invalid("arguments.limit is %d, it must be a number of bytes from %d to %d", limit, utf8.UTFMax, maxRead)
	}
	file, data, err := s.files.Get(ctx, in.User, args.Path)
	if err != nil {
		return refused(ctx, err)
	}
	size := int64(len(data))
	if args.Offset > size {
		return wrong("%q has %d bytes, offset %d is behind its end", args.Path, size, args.Offset), nil
	}
	from, to := wholeRunes(data, int(args.Offset), int(min(args.Offset+limit, size)))
	part := data[from:to]
	if !utf8.Valid(part) || bytes.IndexByte(part, 0) >= 0 {
		return wrong("%q is not text but %s of %d bytes", args.Path, file.ContentType, size), nil
	}
	text := string(part)
	switch {
	case size == 0:
		text = "[the file is empty]"
	case int64(to) < size:
		text += fmt.Sprintf("\n[bytes %d to %d of %d; read on with offset %d]", from, to, size, to)
	}
	return tool.Result{Text: text}, nil
}

// wholeRunes moves the ends of a part of data so that neither cuts a character in half: one that is cut at the beginning is
// left out, one that is cut at the end comes with the next part.
func wholeRunes(data []byte, from, to int) (int, int) {
	for i := 0; from > 0 && from < to && i < utf8.UTFMax-1 && !utf8.RuneStart(data[from]); i++ {
		from++
	}
	if to == len(data) {
		return from, to
	}
	for start := to - 1; start >= from && start > to-utf8.UTFMax; start-- {
		if utf8.RuneStart(data[start]) {
			if !utf8.FullRune(data[start:to]) {
				to = start
			}
			break
		}
	}
	return from, to
}

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (s *FileSource) write(ctx context.Context, in tool.Invocation, args writeArgs) (tool.Result, error) {
	if err := s.files.Put(ctx, in.User, args.Path, "", []byte(args.Content)); err != nil {
		return refused(ctx, err)
	}
	return textResult("Wrote %d bytes to %q in the workspace.", len(args.Content), args.Path), nil
}

type editArgs struct {
	Path       string `json:"path"`
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	ReplaceAll bool   `json:"replace_all"`
}

func (s *FileSource) edit(ctx context.Context, in tool.Invocation, args editArgs) (tool.Result, error) {
	switch args.OldText {
	case "":
		return tool.Result{}, invalid("arguments.old_text is empty; workspace_write writes whole files")
	case args.NewText:
		return tool.Result{}, invalid("arguments.new_text is the same as old_text")
	}
	file, data, err := s.files.Get(ctx, in.User, args.Path)
	if err != nil {
		return refused(ctx, err)
	}
	found := bytes.Count(data, []byte(args.OldText))
	switch {
	case found == 0:
		return wrong("old_text is not in %q; it must be there exactly as given, spaces and line breaks included", args.Path), nil
	case found > 1 && !args.ReplaceAll:
		return wrong("old_text is in %q %d times; give more of the text around it, or set replace_all", args.Path, found), nil
	}
	changed := bytes.ReplaceAll(data, []byte(args.OldText), []byte(args.NewText))
	if err := s.files.Put(ctx, in.User, args.Path, file.ContentType, changed); err != nil {
		return refused(ctx, err)
	}
	return textResult("Replaced %d piece(s) of %q, which has %d bytes now.", found, args.Path, len(changed)), nil
}

func (s *FileSource) delete(ctx context.Context, in tool.Invocation, args pathArgs) (tool.Result, error) {
	if err := s.files.Delete(ctx, in.User, args.Path); err != nil {
		return refused(ctx, err)
	}
	return textResult("Deleted %q from the workspace.", args.Path), nil
}
