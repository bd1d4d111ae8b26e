package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"time"
	"unicode/utf8"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// keepFileWithin bounds how long a file of a result may take to be kept: its call has run, whatever becomes of the file.
const keepFileWithin = 30 * time.Second

// unknownAfterCrash is a call that had started when its pod died.
var unknownAfterCrash = &tool.Failure{Outcome: tool.Unknown, Message: "the server that ran it stopped before an answer was kept"}

// endCall puts how a call ended on the page: for the model, for the client, and for whoever goes on with the run.
func (t *thread) endCall(c *store.Call, out outcome) {
	told := t.present(c.ID, c.Tool, out)
	c.State = store.Ended
	if c.Args == nil {
		c.Args = []byte("{}") // what the model wrote is no object; its message has it
	}
	t.set(*c)
	t.remember(store.Message{Role: roleTool, Content: told.GetResult(), CallID: c.ID, Tool: c.Tool})
	if !t.isTask() && t.todos != nil { // sub-agents have no list
		if list := t.todos.Take(); list != nil {
			t.change.Todos = list
		}
	}
	if t.lexicon != nil {
		if list := t.lexicon.take(); list != nil {
			t.change.Lexicon = list
		}
	}
	t.say(resultEvent(told))
}

// present makes of an outcome what clients and the model are told. What is too large for that, and what is no text, goes to
// the user's workspace.
func (r *run) present(callID, name string, out outcome) *agentv1.ToolCallResult {
	told := &agentv1.ToolCallResult{ToolCallId: callID, ToolName: name, IsError: true}
	if f := out.failure; f != nil {
		told.Outcome, told.Reason, told.Result = f.Outcome, f.Reason, tool.CleanText(explain(name, f))
		return told
	}
	told.IsError, told.NodeId = out.result.IsError, out.result.Node
	ctx, cancel := context.WithTimeout(r.hold, keepFileWithin)
	defer cancel()
	base := "sandbox-output/" + r.lease.Run + "/" + fileName(callID)
	r.presentText(ctx, told, base, tool.CleanText(out.result.Text))
	for i, a := range out.result.Artifacts {
		r.presentArtifact(ctx, told, fmt.Sprintf("%s-%d%s", base, i+1, extension(a.MIMEType)), a)
	}
	return told
}

func (r *run) presentText(ctx context.Context, told *agentv1.ToolCallResult, base, text string) {
	told.Result = text
	limit := r.e.cfg.ResultBytes
	if len(text) <= limit {
		return
	}
	path := base + ".txt"
	note := fmt.Sprintf("\n\n[The result has %d bytes; these are the first %d. All of it is in the workspace file %s]", len(text), limit, path)
	if err := r.e.deps.Files.Put(ctx, r.lease.User, path, "text/plain; charset=utf-8", []byte(text)); err != nil {
		r.log.WarnContext(r.hold, "a long result is not kept", "bytes", len(text), "error", err)
		path, note = "", fmt.Sprintf("\n\n[The result has %d bytes; these are the first %d. The rest could not be kept]", len(text), limit)
	}
	told.FilePath = path
	told.Result = cutText(text, limit) + note
}

func (r *run) presentArtifact(ctx context.Context, told *agentv1.ToolCallResult, path string, a tool.Artifact) {
	if err := r.e.deps.Files.Put(ctx, r.lease.User, path, a.MIMEType, a.Data); err != nil {
		r.log.WarnContext(r.hold, "an artifact is not kept", "bytes", len(a.Data), "error", err)
		told.Result += fmt.Sprintf("\n[%s, %d bytes: could not be kept]", kindOf(a), len(a.Data))
		return
	}
	told.Artifacts = append(told.Artifacts, &agentv1.Artifact{
		Type: kindOf(a), MimeType: a.MIMEType, FilePath: path, Size: int64(len(a.Data)),
	})
	told.Result += fmt.Sprintf("\n[%s, %d bytes: in the workspace file %s]", kindOf(a), len(a.Data), path)
}

func kindOf(a tool.Artifact) string {
	if a.Type == "" {
		return "file"
	}
	return a.Type
}

// fileName is a call's id, or what stands for it where a model chose one that is no name of a file.
func fileName(callID string) string {
	if tool.PastName(callID) == callID {
		return callID
	}
	sum := sha256.Sum256([]byte(callID))
	return "call_" + hex.EncodeToString(sum[:12])
}

// extension returns the usual one of a media type.
func extension(mimeType string) string {
	media, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return ".bin"
	}
	switch media { // where the machine's table has several, or none
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

// object returns what a model wrote as arguments; nil where that is no JSON object. Nothing at all counts as an empty one.
func object(written string) []byte {
	text := strings.TrimSpace(written)
	switch {
	case text == "":
		return []byte("{}")
	case text[0] != '{' || !utf8.ValidString(text) || !json.Valid([]byte(text)):
		return nil
	}
	return []byte(text)
}
