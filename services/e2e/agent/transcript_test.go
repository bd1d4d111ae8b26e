package agent_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

var update = flag.Bool("update", false, "write what is heard into the transcripts")

// TestTranscripts plays the scenes of testdata, each with a user of its own on two gateways with an orchestrator each:
// once as they are written, and once with the gateways exchanged, where the same bytes must be heard.
//
// A scene starts with its name behind "===". Then one thing happens after the other. Ids and times have names: $session is
// the first session that is heard of, $session2 the second; $user is the scene's user, which is also the key of its model
// at $model. There is an MCP server at $mcp, and a GitHub of our own.
//
//	model                            the model's next answer, a piece in each line, each after the one before was heard:
//	  text Let me see.               of text
//	  call call_0 click {"n          of a call
//	  status 429 {"error":{}}        or instead of an answer an error
//	ext@0 connects chrome click type an extension connects to gateway 0 as this node with these tools
//	ext gets                         the next frame that it reads is exactly what follows
//	< {"jsonrpc":"2.0"}
//	ext sends {"jsonrpc":"2.0"}      it writes this
//	r@1 POST /api/agent/invoke       r sends a request to gateway 1, with the body that follows
//	> {"message":"hi"}
//	r hears                          the answer is exactly what follows: status, type and each line of the body
//	< 200 application/json
//	< {}
//
// What a run said is asked for again on both gateways and in both dialects, and must be the same. With -update what is
// behind "<" is written anew.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	model := modeltest.New(t)
	beyond := newOutside(t)
	c := cluster.Start(t, beyond.known(cluster.Options{Orchestrators: 2, Paired: true, Model: model.URL()}))
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	n := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		remark, text, _ := strings.Cut(string(raw), "\n=== ")
		written := []*scene{}
		for one := range strings.SplitSeq(text, "\n=== ") {
			name, body, _ := strings.Cut(one, "\n")
			written = append(written, &scene{name: name, steps: parse(body)})
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			if *update {
				t.Cleanup(func() { rewrite(t, file, remark, written) })
			}
			for _, sc := range written {
				for swap, how := range []string{"as written", "exchanged"} {
					if *update && swap == 1 {
						continue
					}
					n++
					user := fmt.Sprintf("user%dx", n)
					t.Run(sc.name+"/"+how, func(t *testing.T) {
						t.Parallel()
						s := newStage(t, c, model, user, swap)
						s.names.add("mcp", beyond.mcp.URL+"/mcp")
						s.play(sc)
					})
				}
			}
		})
	}
}

// scene is one of a transcript.
type scene struct {
	name  string
	steps []*step
}

// step is one thing that happens: its first line, those below it without their mark, and what was heard.
type step struct {
	line  string
	lines []string
	marks []string
}

func parse(body string) (steps []*step) {
	for line := range strings.SplitSeq(strings.TrimRight(body, "\n"), "\n") {
		mark, rest := "", ""
		for _, m := range []string{"  ", "> ", "< "} {
			if text, ok := strings.CutPrefix(line+" ", m); ok {
				mark, rest = m, strings.TrimSuffix(text, " ")
			}
		}
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case mark == "" || len(steps) == 0:
			steps = append(steps, &step{line: line})
		default:
			last := steps[len(steps)-1]
			last.lines, last.marks = append(last.lines, rest), append(last.marks, mark)
		}
	}
	return steps
}

// heard compares what was heard with what is written, or takes note of it.
func (st *step) heard(s *stage, got string) {
	s.Helper()
	got = strings.TrimRight(s.name(got), "\n")
	if *update {
		st.lines = strings.Split(got, "\n")
		st.marks = nil
		for range st.lines {
			st.marks = append(st.marks, "< ")
		}
		return
	}
	if want := strings.Join(st.lines, "\n"); got != want {
		s.Fatalf("%s\ngot\n%s\nwant\n%s", st.line, got, want)
	}
}

func rewrite(t *testing.T, file, remark string, scenes []*scene) {
	if t.Failed() {
		return
	}
	var b strings.Builder
	b.WriteString(remark + "\n")
	for i, sc := range scenes {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("=== " + sc.name + "\n")
		for _, st := range sc.steps {
			b.WriteString(st.line + "\n")
			for i, line := range st.lines {
				if line = st.marks[i] + line; line == "< " {
					line = "<"
				}
				b.WriteString(line + "\n")
			}
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}
