package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"time"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// storeFilesWithin is how long the files of a result may take to be stored: the call has run, whatever becomes of them.
const storeFilesWithin = 30 * time.Second

// unknownAfterCrash is the end of a call that had started when its pod died.
var unknownAfterCrash = &tool.Failure{Outcome: tool.Unknown, Message: "the server that ran it stopped before an answer was kept"}

// presenter makes of a call's outcome what clients and the model are result. What is too large for that, and what is no text,
// it puts into the user's workspace. Any goroutine may use it.
type presenter struct{ env *environment }

// present returns the result of a call. It waits at most storeFilesWithin for the workspace.
func (p presenter) present(callID, name string, out outcome) *agentv1.ToolCallResult {
	result := &agentv1.ToolCallResult{ToolCallId: callID, ToolName: name, IsError: true}
	if f := out.failure; f != nil {
		result.Outcome, result.Reason, result.Result = f.Outcome, f.Reason, tool.CleanText(explain(name, f))
		return result
	}
	result.IsError, result.NodeId = out.result.IsError, out.result.Node
	ctx, cancel := context.WithTimeout(p.env.leased, storeFilesWithin)
	defer cancel()
	base := "sandbox-output/" + p.env.lease.Run + "/" + fileName(callID)
	p.addText(ctx, result, base, tool.CleanText(out.result.Text))
	for i, a := range out.result.Artifacts {
		p.addArtifact(ctx, result, fmt.Sprintf("%s-%d%s", base, i+1, extension(a.MIMEType)), a)
	}
	return result
}

func (p presenter) addText(ctx context.Context, result *agentv1.ToolCallResult, base, text string) {
	result.Result = text
	limit := p.env.cfg.ResultBytes
	if len(text) <= limit {
		return
	}
	path := base + ".txt"
	note := fmt.Sprintf("\n\n[The result has %d bytes; these are the first %d. All of it is in the workspace file %s]", len(text), limit, path)
	if err := p.env.deps.Files.Put(ctx, p.env.lease.User, path, "text/plain; charset=utf-8", []byte(text)); err != nil {
		p.env.log.WarnContext(p.env.leased, "a long result could not be stored", "bytes", len(text), "error", err)
		path, note = "", fmt.Sprintf("\n\n[The result has %d bytes; these are the first %d. The rest could not be kept]", len(text), limit)
	}
	result.FilePath = path
	result.Result = tool.Cut(text, limit) + note
}

func (p presenter) addArtifact(ctx context.Context, result *agentv1.ToolCallResult, path string, a tool.Artifact) {
	if err := p.env.deps.Files.Put(ctx, p.env.lease.User, path, a.MIMEType, a.Data); err != nil {
		p.env.log.WarnContext(p.env.leased, "an artifact could not be stored", "bytes", len(a.Data), "error", err)
		result.Result += fmt.Sprintf("\n[%s, %d bytes: could not be kept]", kindOf(a), len(a.Data))
		return
	}
	result.Artifacts = append(result.Artifacts, &agentv1.Artifact{
		Type: kindOf(a), MimeType: a.MIMEType, FilePath: path, Size: int64(len(a.Data)),
	})
	result.Result += fmt.Sprintf("\n[%s, %d bytes: in the workspace file %s]", kindOf(a), len(a.Data), path)
}

func kindOf(a tool.Artifact) string {
	if a.Type == "" {
		return "file"
	}
	return a.Type
}

// fileName is a call's id, or a hash of it if the model chose an id that cannot be the name of a file.
func fileName(callID string) string {
	if tool.PastName(callID) == callID {
		return callID
	}
	sum := sha256.Sum256([]byte(callID))
	return "call_" + hex.EncodeToString(sum[:12])
}

// extension returns the usual file extension of a media type.
func extension(mimeType string) string {
	media, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return ".bin"
	}
	switch media { // for these the machine's table has several, or none
	case "image/jpeg":
		return ".jpg"
	case "text/plain":
		return ".txt"
	case "image/png", "image/gif", "image/webp":
		return "." + media[len("image/"):]
	}
	if known, err := mime.ExtensionsByType(media); err == nil && len(known) > 0 {
		return known[0]
	}
	return ".bin"
}

// explain tells the model why a call was not answered, and what follows from that.
func explain(name string, f *tool.Failure) string {
	why := f.Message
	if f.Reason != "" {
		why = f.Reason + ": " + why
	}
	switch f.Outcome {
	case tool.Rejected:
		if why == "" {
			why = "no reason was given"
		}
		return fmt.Sprintf("The user rejected this call of %s (%s). It did not run. Do not try this call again.", name, why)
	case tool.TimedOut:
		return fmt.Sprintf("Nobody decided in time whether %s may run, so it did not run. This was not a person's no.", name)
	case tool.NotDelivered:
		return fmt.Sprintf("The call of %s was not delivered (%s). It did not run.", name, why)
	case tool.Cancelled:
		return why
	case tool.Refused:
		return fmt.Sprintf("%s was not run: %s.", name, why)
	case tool.Invalid:
		return fmt.Sprintf("The call of %s was not sent: %s.", name, why)
	}
	return fmt.Sprintf("The outcome of this call of %s is unknown (%s). It may have run; it was not run again. "+
		"Find out what it did before you decide whether to call it again.", name, why)
}
