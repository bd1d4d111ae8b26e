package hostile_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const pong = `{"type":"pong"}`

// metric reads a counter of a pod; 0 where it does not exist yet.
func metric(t testing.TB, g *cluster.Gateway, name string) float64 {
	t.Helper()
	resp, err := http.Get("http://" + g.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(body)
	if m == nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sockets are one of each kind.
func sockets(t *testing.T, g *cluster.Gateway, user string) map[string]*cluster.Client {
	return map[string]*cluster.Client{"extension": g.Extension(t, user, "e"), "desktop": g.Desktop(t, user, "d"), "web": g.Web(t, user)}
}

func TestBinaryFramesAreCountedAndSurvivedSilently(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	for kind, s := range sockets(t, g, "u") {
		for _, payload := range []string{"", `{"type":"ping"}`, `{"type":"register","node_id":"x"}`, "\x00\xff", strings.Repeat("x", 1<<20)} {
			if err := s.TrySend(websocket.MessageBinary, []byte(payload)); err != nil {
				t.Error(kind, err)
			}
		}
		s.Silent()
	}
	if n := metric(t, g, `hecaton_gateway_frames_rejected_total{problem="binary"}`); n != 15 {
		t.Errorf("%v binary frames were counted", n)
	}
}

func TestWhatIsNoFrameIsAnsweredCountedAndSurvived(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	cases := map[string]int{
		"": -32700, " ": -32700, "{": -32700, "\x00": -32700, "{\"type\":\"ping\"\x00}": -32700, "{\"a\":\"\xff\"}": -32700, "\ufeff{}": -32700, "NaN": -32700,
		`{"type":"ping",}`: -32700, `{"type":'ping'}`: -32700, "{}{}": -32700, `{"a":01}`: -32700, `{"a":"` + "\n" + `"}`: -32700,
		`{"a":` + strings.Repeat("[", 513) + strings.Repeat("]", 513) + "}": -32700, strings.Repeat("[", 1_000_000): -32700, strings.Repeat(`{"a":`, 200_000): -32700,
		"[]": -32600, "[{}]": -32600, "7": -32600, "true": -32600, `"x"`: -32600, "null": -32600, strings.Repeat("[", 512) + strings.Repeat("]", 512): -32600,
	}
	for kind, s := range sockets(t, g, "u") {
		for frame, code := range cases {
			s.Send(frame)
			if got, want := s.Next(), fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":`, code); !strings.HasPrefix(got, want) {
				t.Errorf("%s, %.40q: %s", kind, frame, got)
			}
		}
		s.Send(`{"type":"ping","deep":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`)
		s.Expect(pong)
		s.Silent()
	}
	if n := metric(t, g, `hecaton_gateway_frames_rejected_total{problem="malformed"}`); n != float64(3*len(cases)) {
		t.Errorf("%v malformed frames were counted, %d sent", n, 3*len(cases))
	}
}

func TestDeepMembersPassThrough(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext, web := c.Gateways[0].Extension(t, "u", "n"), c.Gateways[1].Web(t, "u")
	deep := strings.Repeat(`{"a":[`, 250) + strings.Repeat(`]}`, 250)
	ext.Register(`"what":` + deep)
	ext.Send(`{"type":"task_complete","task_id":1,"result":` + deep + `}`)
	web.Expect(`{"type":"workflow_complete","task_id":1,"success":true,"result":` + deep + `,"output":null}`)
}

func TestCompressionIsDeclined(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	for _, offer := range []string{"permessage-deflate", "permessage-deflate; client_max_window_bits; server_no_context_takeover", "x-webkit-deflate-frame"} {
		r := dialRaw(t, c.Gateways[0], "/ws/web?user_id=u", "Sec-WebSocket-Extensions: "+offer+"\r\n", nil)
		if r.resp.StatusCode != http.StatusSwitchingProtocols || r.resp.Header.Values("Sec-WebSocket-Extensions") != nil {
			t.Errorf("%s: %s %v", offer, r.resp.Status, r.resp.Header)
		}
		r.text(`{"type":"ping"}`)
		r.expect(opText, pong)
	}
}

func TestFramesMayComeWithTheHandshakeAndInPieces(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	early := masked(final|opText, []byte(`{"type":"register","node_name":"`+strings.Repeat("n", 3000)+`"}`))
	r := dialRaw(t, c.Gateways[0], "/ws/extension?client_id=user_u&node_id=n", "", append(early, masked(final|opText, []byte(`{"type":"heartbeat"}`))...))
	r.expect(opText, `{"type":"registered","node_id":"n","success":true}`)
	r.expect(opText, `{"type":"heartbeat_ack"}`)
	// One message in three frames, with control frames between them.
	r.write(masked(opText, []byte(`{"ty`)))
	r.write(masked(final|opPing, []byte("between")))
	r.write(masked(opContinuation, []byte(`pe":"p`)))
	r.write(masked(final|opPong, nil))
	r.write(masked(final|opContinuation, []byte(`ing"}`)))
	r.expect(opPong, "between")
	r.expect(opText, pong)
	// Byte by byte.
	for _, b := range masked(final|opText, []byte(`{"type":"ping"}`)) {
		r.write([]byte{b})
	}
	r.expect(opText, pong)
}

func TestWhoBreaksTheWebSocketProtocolIsClosed(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	unmasked := []byte{final | opText, 2, '{', '}'}
	for name, breach := range map[string][]byte{
		"an unmasked frame": unmasked, "a reserved bit": masked(final|0x40|opText, []byte("{}")), "an unknown opcode": masked(final|0x3, []byte("{}")),
		"a long control frame": masked(final|opPing, bytes.Repeat([]byte("x"), 126)), "a ping in pieces": masked(opPing, nil),
		"a continuation of nothing": masked(final|opContinuation, []byte("{}")), "a length that is negative": append([]byte{final | opText, 0x80 | 127}, bytes.Repeat([]byte{0xff}, 12)...),
		"a message within a message": append(masked(opText, []byte("{")), masked(final|opText, []byte("}"))...), "a close frame of one byte": masked(final|opClose, []byte{3}),
		"a close code that is none": masked(final|opClose, []byte{0, 1}), "no frame at all": []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
	} {
		user := fmt.Sprintf("who sends %s", name)
		r := dialRaw(t, g, "/ws/extension?client_id=user_"+strings.ReplaceAll(user, " ", "+")+"&node_id=n", "", nil)
		r.text(`{"type":"register"}`)
		r.expect(opText, `{"type":"registered","node_id":"n","success":true}`)
		r.write(breach)
		if !r.ended(20 * time.Second) {
			t.Errorf("%s is survived", name)
		}
		testkit.Eventually(t, 10*time.Second, func() bool { return g.Get(t, "/api/node/devices", user).Body["total"] == float64(0) }, "%s is gone", user)
	}
}

func TestAnUpgradeThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	for _, target := range []string{"/ws/web?user_id=u", "/ws/extension?client_id=user_u", "/ws/desktop?client_id=desktop_u", "/ws/web", "/ws/extension"} {
		if r := g.Get(t, target, ""); r.Status != http.StatusUpgradeRequired {
			t.Errorf("GET %s: %d %s", target, r.Status, r.Raw)
		}
	}
	if r := g.Get(t, "/api/node/devices", "u"); r.Body["total"] != float64(0) {
		t.Error(r.Raw)
	}
}
