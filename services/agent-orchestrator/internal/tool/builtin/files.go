package builtin

import (
	"context"
	"encoding/json"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// Files is the user's workspace (package workspace). Paths are relative; errors are *errs.Error, or the context's.
type Files interface {
	List(ctx context.Context, user ids.UserID, prefix string, limit int, cursor string) (workspace.Page, error)
	Get(ctx context.Context, user ids.UserID, path string) (workspace.File, []byte, error)
	// Put creates or replaces a file, whole or not at all.
	Put(ctx context.Context, user ids.UserID, path, mimeType string, data []byte) error
	Delete(ctx context.Context, user ids.UserID, path string) error
}

// FileSource has the tools of the user's workspace: workspace_list, workspace_read, workspace_write, workspace_edit and
// workspace_delete.
type FileSource struct{ files Files }

// Options of a FileSource.
type Options struct {
	// Files are the workspaces; required.
	Files Files
}

// New checks the options and returns a FileSource.
func New(o Options) (*FileSource, error) {
	if err := options.Require("builtin", map[string]bool{"Files": o.Files == nil}); err != nil {
		return nil, err
	}
	return &FileSource{o.Files}, nil
}

// Tools implements [tool.Source]. They work on the files of the user who calls.
func (s *FileSource) Tools(context.Context, tool.Scope) (tool.Listing, error) {
	const path = `"path":{"type":"string","description":"A path in the workspace, such as projects/notes.md"}`
	return tool.Listing{Tools: []tool.Tool{
		function[listArgs]{fileSpec("workspace_list", true,
			"Lists the files of the user's workspace, which is kept on the server, with their sizes.",
			`{"type":"object","properties":{"prefix":{"type":"string","description":"How the paths begin, such as projects/; all files where it is left out"},`+
				`"after":{"type":"string","description":"Go on behind this path, where a listing was cut"}}}`), s.list},
		function[readArgs]{fileSpec("workspace_read", true,
			"Reads text from a file of the user's workspace.",
			`{"type":"object","required":["path"],"properties":{`+path+`,"offset":{"type":"integer","description":"The byte to begin with; 0 where it is left out"},`+
				`"limit":{"type":"integer","description":"How many bytes to read, 32768 where it is left out, at most 49152"}}}`), s.read},
		function[writeArgs]{fileSpec("workspace_write", false,
			"Creates a file in the user's workspace, or replaces it.",
			`{"type":"object","required":["path","content"],"properties":{`+path+`,"content":{"type":"string"}}}`), s.write},
		function[editArgs]{fileSpec("workspace_edit", false,
			"Replaces a piece of text in a file of the user's workspace. The old text must be in the file exactly once, unless all of them are to be replaced.",
			`{"type":"object","required":["path","old_text","new_text"],"properties":{`+path+`,"old_text":{"type":"string"},"new_text":{"type":"string"},`+
				`"replace_all":{"type":"boolean"}}}`), s.edit},
		function[pathArgs]{fileSpec("workspace_delete", false,
			"Deletes a file of the user's workspace.", `{"type":"object","required":["path"],"properties":{`+path+`}}`), s.delete},
	}}, nil
}

func fileSpec(name string, readOnly bool, description, parameters string) tool.Spec {
	return tool.Spec{
		Name: name, Description: description, Parameters: json.RawMessage(parameters),
		Layer: tool.Builtin, Category: tool.Filesystem, ReadOnly: readOnly,
	}
}
