package agent_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// stage is where one scene is played.
type stage struct {
	*testing.T
	cluster *cluster.Cluster
	model   *modeltest.Server
	swap    int
	user    string
	names   names
	nodes   map[string]*cluster.Client
	answers map[string]chan string
	// gate holds the model before its next piece: it has a token for each piece that was heard.
	gate chan struct{}
}

func newStage(t *testing.T, c *cluster.Cluster, model *modeltest.Server, user string, swap int) *stage {
	t.Helper()
	c.Gateways[0].RunEverything(t, user)
	return &stage{
		T: t, cluster: c, model: model, swap: swap, user: user, names: newNames("user", user, "model", model.URL()),
		nodes: map[string]*cluster.Client{}, answers: map[string]chan string{}, gate: make(chan struct{}, 1000),
	}
}

func (s *stage) play(sc *scene) {
	s.Helper()
	for _, st := range sc.steps {
		who, rest, _ := strings.Cut(st.line, " ")
		who, pod, _ := strings.Cut(who, "@")
		verb, rest, _ := strings.Cut(rest, " ")
		switch verb {
		case "":
			s.script(st)
		case "connects":
			node, tools, _ := strings.Cut(rest, " ")
			list, _ := json.Marshal(strings.Fields(tools)) // of strings
			s.nodes[who] = s.pod(pod).Extension(s, s.user, node)
			s.nodes[who].Register(`"available_tools":` + string(list))
		case "gets":
			st.heard(s, s.nodes[who].Next())
		case "sends":
			s.nodes[who].Send(s.fill(rest))
		case "hears":
			st.heard(s, <-s.answers[who])
		default:
			s.answers[who] = s.send(s.pod(pod), verb, s.fill(rest), s.fill(strings.Join(st.lines, "\n")))
		}
	}
}

func (s *stage) pod(number string) *cluster.Gateway {
	s.Helper()
	i, err := strconv.Atoi(number)
	if err != nil {
		s.Fatal(err)
	}
	return s.cluster.Gateways[(i+s.swap)%2]
}

// script gives the model an answer for this scene's user.
func (s *stage) script(st *step) {
	s.Helper()
	mine := func(r modeltest.Request) bool { return r.Key() == s.user }
	answer, calls := modeltest.Raw(), map[string]int{}
	reason := "stop"
	for _, line := range st.lines {
		kind, rest, _ := strings.Cut(line, " ")
		delta := map[string]any{"content": rest}
		switch kind {
		case "status":
			code, body, _ := strings.Cut(rest, " ")
			status, err := strconv.Atoi(code)
			if err != nil {
				s.Fatal(err)
			}
			s.model.When(mine, modeltest.Status(status, nil, body))
			return
		case "call":
			reason = "tool_calls"
			id, rest, _ := strings.Cut(rest, " ")
			name, args, _ := strings.Cut(rest, " ")
			index, known := calls[id]
			if !known {
				index = len(calls)
				calls[id] = index
			}
			call := map[string]any{"index": index, "function": map[string]any{"name": name, "arguments": args}}
			if known {
				call["function"] = map[string]any{"arguments": args}
			} else {
				call["id"], call["type"] = id, "function"
			}
			delta = map[string]any{"tool_calls": []any{call}}
		}
		answer = answer.Then(modeltest.Raw(chunk(s, delta, nil))).Wait(s.gate)
	}
	end := "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":812,\"completion_tokens\":64}}\n\ndata: [DONE]\n\n"
	s.model.When(mine, answer.Then(modeltest.Raw(chunk(s, map[string]any{}, reason), end)))
}

func chunk(t testing.TB, delta map[string]any, reason any) string {
	raw, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}})
	if err != nil {
		t.Fatal(err)
	}
	return "data: " + string(raw) + "\n\n"
}

// send sends a request; the channel gets its answer, whole.
func (s *stage) send(g *cluster.Gateway, method, path, body string) chan string {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, "http://"+g.HTTP+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("X-User-Id", s.user)
	req.Header.Set("Content-Type", "application/json")
	answer := make(chan string, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		answer <- s.read(req)
	}()
	s.Cleanup(func() { <-done })
	return answer
}

var piece = regexp.MustCompile(`^data: \{"type":"(text|message_chunk|tool_call_chunk)"`)

func (s *stage) read(req *http.Request) string {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	kind := resp.Header.Get("Content-Type")
	heard, in := fmt.Sprintf("%d %s\n", resp.StatusCode, kind), bufio.NewReader(resp.Body)
	var body strings.Builder
	for {
		line, err := in.ReadString('\n')
		body.WriteString(line)
		if err != nil && err != io.EOF {
			return heard + body.String() + err.Error()
		}
		if err != nil {
			break
		}
		if piece.MatchString(line) {
			s.gate <- struct{}{}
		}
	}
	if kind == "application/json" { // whose spaces each build sets anew
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(body.String())); err != nil {
			return heard + body.String() + err.Error()
		}
		return heard + compact.String()
	}
	if kind == "text/event-stream" {
		s.again(body.String(), strings.Contains(req.URL.RawQuery, "dialect=reference"))
	}
	return heard + body.String()
}

var (
	numbered = regexp.MustCompile(`"seq":(\d+),"session_id":"([^"]*)"`)
	standard = strings.NewReplacer(`{"type":"message_chunk",`, `{"type":"text",`, `{"type":"tool_result",`, `{"type":"tool_call_result",`, `{"type":"done",`, `{"type":"complete",`)
	referred = strings.NewReplacer(`{"type":"text",`, `{"type":"message_chunk",`, `{"type":"tool_call_result",`, `{"type":"tool_result",`, `{"type":"complete",`, `{"type":"done",`)
)

// again compares what was heard with what was kept, in both dialects on both gateways.
func (s *stage) again(heard string, reference bool) {
	found := numbered.FindAllStringSubmatch(heard, -1)
	if len(found) == 0 {
		return
	}
	if reference {
		heard = standard.Replace(heard)
	}
	first, _ := strconv.Atoi(found[0][1])
	for _, g := range s.cluster.Gateways {
		for dialect, want := range map[string]string{"": heard, "&dialect=reference": referred.Replace(heard)} {
			got := g.Get(s, fmt.Sprintf("/api/agent/sessions/%s/events?follow=false&after_seq=%d%s", found[0][2], first-1, dialect), s.user).Raw
			if !strings.HasPrefix(got, want) { // what comes behind it was not part of that stream
				s.Errorf("kept is\n%s\nheard was\n%s", got, want)
			}
		}
	}
}
