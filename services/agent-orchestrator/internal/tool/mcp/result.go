package mcp

import (
	"encoding/json"
	"path"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// convert turns a server's answer into a result: its texts joined, everything else as artifacts.
func convert(got *sdk.CallToolResult) tool.Result {
	if got.NeedsInput() {
		return tool.Result{IsError: true, Text: "The tool asks for input of a person, which it cannot be given here."}
	}
	out := tool.Result{IsError: got.IsError}
	var texts []string
	for _, content := range got.Content {
		switch c := content.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ImageContent:
			out.Artifacts = append(out.Artifacts, tool.Artifact{Type: "image", MIMEType: c.MIMEType, Data: c.Data})
		case *sdk.AudioContent:
			out.Artifacts = append(out.Artifacts, tool.Artifact{Type: "file", MIMEType: c.MIMEType, Data: c.Data})
		case *sdk.ResourceLink:
			texts = append(texts, strings.TrimSpace(c.Name+" "+c.URI))
		case *sdk.EmbeddedResource:
			if c.Resource == nil {
				continue
			}
			if c.Resource.Blob == nil {
				texts = append(texts, c.Resource.Text)
				continue
			}
			out.Artifacts = append(out.Artifacts, blob(c.Resource))
		}
	}
	if structured, ok := got.StructuredContent.(map[string]any); ok {
		out.Structured, _ = json.Marshal(structured) // was decoded from JSON
	}
	if len(got.Content) == 0 && got.StructuredContent != nil {
		if raw, err := json.Marshal(got.StructuredContent); err == nil {
			texts = append(texts, string(raw))
		}
	}
	out.Text = tool.CleanText(strings.Join(texts, "\n"))
	return out
}

func blob(r *sdk.ResourceContents) tool.Artifact {
	a := tool.Artifact{Type: "file", MIMEType: r.MIMEType, Data: r.Blob}
	if strings.HasPrefix(r.MIMEType, "image/") {
		a.Type = "image"
	}
	if name := path.Base(r.URI); name != "." && name != "/" {
		a.Name = name
	}
	return a
}
