package grpcapi

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

const (
	// maxArtifact is the largest file that an event carries.
	maxArtifact = 10 << 20
	// MaxEventData bounds the files of one event together; those after it go as references only.
	MaxEventData = 20 << 20
)

// withData returns an event as it is sent, with the bytes of its artifacts. An artifact that is too large or was deleted
// stays a reference.
func (s *Server) withData(ctx context.Context, ref store.Ref, e *agentv1.Event) *agentv1.Event {
	if len(e.GetToolCallResult().GetArtifacts()) == 0 {
		return e
	}
	e = proto.CloneOf(e) // other streams send it, too
	left := int64(MaxEventData)
	for _, a := range e.GetToolCallResult().GetArtifacts() {
		if a.GetFilePath() == "" || a.GetSize() > min(left, maxArtifact) {
			continue
		}
		_, data, err := s.Files.Get(ctx, ref.User, a.GetFilePath())
		switch {
		case err == nil && int64(len(data)) <= min(left, maxArtifact): // the file may have been replaced meanwhile
			a.Data = data
			left -= int64(len(data))
		case err != nil && !errors.Is(err, errs.FileNotFound) && ctx.Err() == nil:
			s.log.WarnContext(ctx, "an artifact could not be read; it is sent without its bytes", "run", e.GetRunId(), "seq", e.GetSeq(), "error", err)
		}
	}
	return e
}
