package agent

import (
	"crypto/sha256"
	"reflect"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/prompt"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// maxFrames bounds the frames that a pod remembers; each is at most some 100 KiB, and most are a tenth of that.
	maxFrames = 512
	// frameLifetime is how long a frame is expected to come again.
	frameLifetime = 10 * time.Minute
)

// frame is what a request to a model has around the conversation: what the sources of tools say, and the tools.
type frame struct {
	remarks  []tool.Remark
	problems []string
	tools    []llm.Function
	// connected are the types of the nodes that there are; they decide about skills, which the frame has not.
	connected []string
}

func (f frame) equal(other frame) bool { return reflect.DeepEqual(f, other) }

// request returns the request for a conversation in the frame.
func (f frame) request(system string, history prompt.History) llm.Request {
	opening := prompt.Opening(system, f.remarks, f.problems)
	return llm.Request{Messages: append(opening, history.Messages()...), Tools: f.tools}
}

// frameKey is whose frame it is, and what of an invoke changes it.
type frameKey struct {
	user            ids.UserID
	mode, preferred string
	tokens          int
	requested       [sha256.Size]byte
}

// frames remembers with which frames runs began, to guess that of the next one. A guess is only as good as the run that it
// begins: [headStart] says what becomes of a wrong one. Several goroutines may use it.
type frames struct {
	known *lru.Cache[frameKey, knownFrame]
}

// knownFrame does not change once it is stored.
type knownFrame struct {
	frame
	at time.Time // when a run began with it
	// steady says that two runs in a row did: a frame that is another one each time is never used as a guess.
	steady bool
}

func newFrames() (*frames, error) {
	known, err := lru.New[frameKey, knownFrame](maxFrames)
	return &frames{known}, err
}

// key returns under which a run's frame is remembered.
func (f *frames) key(user ids.UserID, s *settings, tokens int) frameKey {
	requested, _ := proto.MarshalOptions{Deterministic: true}.Marshal(&agentv1.InvokeRequest{Tools: s.Invoke.GetTools()}) // as sealSettings did before
	return frameKey{user, s.mode(), s.Invoke.GetPreferredNodeId(), tokens, sha256.Sum256(requested)}
}

// guess returns the frame with which a run is likely to begin.
func (f *frames) guess(k frameKey) (frame, bool) {
	known, _ := f.known.Get(k)
	return known.frame, known.steady && time.Since(known.at) < frameLifetime
}

// learn notes with which frame a run has begun.
func (f *frames) learn(k frameKey, now frame) {
	before, _ := f.known.Peek(k)
	f.known.Add(k, knownFrame{frame: now, at: time.Now(), steady: before.equal(now)})
}
