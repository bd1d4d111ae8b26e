package store

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"errors"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// The scripts; each file says what it wants and returns.
var (
	registerScript   = mustLoad("register")
	heartbeatScript  = mustLoad("heartbeat")
	deregisterScript = mustLoad("deregister")
	listScript       = mustLoad("list")
	sessionScript    = mustLoad("session")
	bindScript       = mustLoad("bind")
	adoptScript      = mustLoad("adopt")
	markScript       = mustLoad("mark")
	claimScript      = mustLoad("claim")
	sweepScript      = mustLoad("sweep")
	settleScript     = mustLoad("settle")
	reportScript     = mustLoad("report")
	gatewayScript    = mustLoad("gateway")
	silentScript     = mustLoad("silent")
	forgetScript     = mustLoad("forget")
	holdScript       = mustLoad("hold")
	releaseScript    = mustLoad("release")
	vacateScript     = mustLoad("vacate")
	leaveScript      = mustLoad("leave")
	useScript        = mustLoad("use")
)

type script struct{ source, sha string }

func mustLoad(name string) *script {
	prelude, err := luaFiles.ReadFile("lua/prelude.lua")
	body, err2 := luaFiles.ReadFile("lua/" + name + ".lua")
	if err := errors.Join(err, err2); err != nil {
		panic(err) // a file that the compiler did not embed
	}
	source := string(prelude) + string(body)
	sum := sha1.Sum([]byte(source)) // how Redis names scripts
	return &script{source: source, sha: hex.EncodeToString(sum[:])}
}

// call is one run of a script.
type call struct {
	script *script
	keys   []string
	args   []any
}

// pipelineSize bounds the commands of one round trip: the read timeout covers all of their replies.
const pipelineSize = 100

// run runs one script.
func (s *Store) run(ctx context.Context, c call) (*reply, error) {
	r := s.runAll(ctx, []call{c})[0]
	return r, r.err
}

// runAll runs scripts in pipelines, neighbours apart: each reply has its own error.
func (s *Store) runAll(ctx context.Context, calls []call) []*reply {
	replies := make([]*reply, 0, len(calls))
	for start := 0; start < len(calls); start += pipelineSize {
		chunk := s.runChunk(ctx, calls[start:min(start+pipelineSize, len(calls))])
		replies = append(replies, chunk...)
		if err := allFailed(chunk); err != nil {
			// Redis is away: the rest would only wait for the same answer.
			for len(replies) < len(calls) {
				replies = append(replies, &reply{err: err})
			}
			break
		}
	}
	return replies
}

// runChunk runs one pipeline, and a second one with what failed only because Redis did not know the script yet.
func (s *Store) runChunk(ctx context.Context, calls []call) []*reply {
	replies := s.evaluate(ctx, calls)
	var again []int
	missing := map[*script]bool{}
	for i, r := range replies {
		if redis.HasErrorPrefix(r.err, "NOSCRIPT") {
			again = append(again, i)
			missing[calls[i].script] = true
		}
	}
	if len(again) == 0 {
		return replies
	}
	for script := range missing {
		// A failure shows in the second attempt.
		_ = s.client.ScriptLoad(ctx, script.source).Err()
	}
	retry := make([]call, len(again))
	for j, i := range again {
		retry[j] = calls[i]
	}
	for j, r := range s.evaluate(ctx, retry) {
		replies[again[j]] = r
	}
	return replies
}

func (s *Store) evaluate(ctx context.Context, calls []call) []*reply {
	pipe := s.client.Pipeline()
	cmds := make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		cmds[i] = pipe.EvalSha(ctx, c.script.sha, c.keys, c.args...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	replies := make([]*reply, len(calls))
	for i, cmd := range cmds {
		items, err := cmd.Result()
		if err != nil {
			replies[i] = &reply{err: err}
			continue
		}
		replies[i] = newReply(items)
	}
	return replies
}

// allFailed returns an error of the connection that every reply has, or nil.
func allFailed(replies []*reply) error {
	var last error
	for _, r := range replies {
		if r.err == nil || answered(r.err) {
			return nil
		}
		last = r.err
	}
	return last
}
