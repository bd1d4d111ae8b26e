package zeus_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// TestTranscripts plays the scenes of testdata, each with a user of its own, on three pods.
//
// A scene starts with its name behind "===". Then one thing happens after the other; lines that begin with a space go on
// where the line before ended. $user is the scene's user; any other $name stands for a UUID, the same one from its first
// use on.
//
//	x@0 dial /ws/web?user_id=$user   x opens a socket on pod 0
//	x > {"type":"ping"}              x writes exactly this text
//	x < {"type":"pong"}              the next frame that x reads is exactly this; server pings are kept apart
//	x silent                         everything that x had to read has been read
//	x pinged                         the server pings
//	x closed 4001                    the server closes with this code
//	x cut                            x drops its socket without a word
//	r@1 asks POST /path {"a":1}      r sends a request to pod 1, as the scene's user
//	r hears 200 {"b":2}              the answer to it has exactly these members
//	r fails 409 {"c":3}              the answer is a problem with at least these members
//	r@1 sees /path {"b":2}           soon a GET on pod 1 is answered with 200 and exactly these members
func TestTranscripts(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3, Gateway: func(_ int, cfg *gateway.Config) { cfg.PingInterval = time.Second / 2 }})
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
		_, text, _ := strings.Cut("\n"+string(raw), "\n=== ") // before the first scene there may be a remark
		for scene := range strings.SplitSeq(text, "\n=== ") {
			name, body, _ := strings.Cut(scene, "\n")
			n++
			user := fmt.Sprintf("user%dx", n)
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := &stage{T: t, cluster: c, vars: map[string]string{"user": user}, actors: map[string]*actor{}}
				for line := range strings.SplitSeq(folded(body), "\x00") {
					s.play(line)
				}
			})
		}
	}
}

// folded puts a NUL between what happens, and joins the lines of one text.
func folded(body string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case b.Len() > 0 && line[0] != ' ':
			b.WriteByte(0)
		case b.Len() > 0:
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}

// stage is where one scene is played.
type stage struct {
	*testing.T
	cluster *cluster.Cluster
	vars    map[string]string
	actors  map[string]*actor
}

type actor struct {
	socket *cluster.Client
	answer chan cluster.Response
}

var (
	variable       = regexp.MustCompile(`\$[a-z]+`)
	quotedVariable = regexp.MustCompile(`\\\$[a-z]+`)
)

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// fill puts values in the place of variables; all of them must be known.
func (s *stage) fill(text string) string {
	s.Helper()
	return variable.ReplaceAllStringFunc(text, func(v string) string {
		value, ok := s.vars[v[1:]]
		if !ok {
			s.Fatalf("%s has no value yet in %s", v, text)
		}
		return value
	})
}

// expect compares a frame, and learns the values of variables that have none yet.
func (s *stage) expect(got, want string) {
	s.Helper()
	var names []string
	pattern := quotedVariable.ReplaceAllStringFunc(regexp.QuoteMeta(want), func(v string) string {
		name := v[len(`\$`):]
		if value, ok := s.vars[name]; ok {
			return regexp.QuoteMeta(value)
		}
		names = append(names, name)
		return "(" + uuid + ")"
	})
	found := regexp.MustCompile("^(?s:" + pattern + ")$").FindStringSubmatch(got)
	if found == nil {
		s.Fatalf("\ngot  %s\nwant %s", got, want)
	}
	for i, name := range names {
		s.vars[name] = found[i+1]
	}
}

func (s *stage) play(line string) {
	s.Helper()
	who, rest, _ := strings.Cut(line, " ")
	verb, text, _ := strings.Cut(rest, " ")
	name, pod, _ := strings.Cut(who, "@")
	a := s.actors[name]
	if a == nil {
		a = &actor{}
		s.actors[name] = a
	}
	if a.socket == nil && strings.Contains("> < silent pinged closed cut", verb) {
		s.Fatalf("no socket in: %s", line)
	}
	switch verb {
	case "dial":
		a.socket = s.pod(pod).Open(s, s.fill(text))
	case ">":
		a.socket.Send(s.fill(text))
	case "<":
		s.expect(a.socket.Next(), text)
	case "silent":
		a.socket.Silent()
	case "pinged":
		a.socket.Ping()
	case "cut":
		a.socket.Cut()
	case "closed":
		if code := fmt.Sprint(a.socket.Ended()); code != text {
			s.Fatalf("closed with %s: %s", code, line)
		}
	case "asks", "hears", "fails", "sees":
		s.request(a, pod, verb, s.fill(text))
	default:
		s.Fatalf("what is: %s", line)
	}
}

func (s *stage) pod(number string) *cluster.Gateway {
	s.Helper()
	i := strings.Index("012", number)
	if number == "" || i < 0 {
		s.Fatalf("no pod %q", number)
	}
	return s.cluster.Gateways[i]
}
