package tokens

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var errAway = errors.New("the store is away")

// shelf is a store that can be away.
type shelf struct {
	mu      sync.Mutex
	records map[string]*agentv1.TokenRecord
	away    bool
	asked   int
}

func (s *shelf) LookUpTokens(_ context.Context, req *agentv1.LookUpTokensRequest, _ ...grpc.CallOption) (*agentv1.LookUpTokensResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.away {
		return nil, errAway
	}
	resp := &agentv1.LookUpTokensResponse{}
	for _, id := range req.GetIds() {
		if r := s.records[id]; r != nil {
			resp.Tokens = append(resp.Tokens, r)
		}
	}
	return resp, nil
}

func (s *shelf) make(scopes ...string) (id, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, token = auth.NewFixed()
	s.records[id] = &agentv1.TokenRecord{
		UserId: "ana", Hash: auth.HashFixed(token),
		Token: &agentv1.UserToken{Id: id, Scopes: scopes, ExpiresAt: timestamppb.New(time.Now().Add(time.Hour))},
	}
	return id, token
}

func (s *shelf) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func open(t *testing.T) (*Book, *shelf, *bus.Conn) {
	t.Helper()
	connect := func() *bus.Conn {
		conn, err := bus.Connect(t.Context(), bus.Options{URL: testkit.NATS(t), Name: t.Name()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return conn
	}
	here, there := connect(), connect()
	s := &shelf{records: make(map[string]*agentv1.TokenRecord)}
	b, err := New(Options{Store: s, Bus: here})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := here.Flush(); err != nil {
		t.Fatal(err)
	}
	return b, s, there
}

// isNone fails unless a token is refused as none.
func isNone(t *testing.T, b *Book, token string) {
	t.Helper()
	if _, err := b.LookUp(t.Context(), token); !errors.Is(err, auth.Unauthenticated) {
		t.Errorf("%v", err)
	}
}

// The word of a revocation counts at once, though the store still answered otherwise a moment ago; without the word the token is
// good no longer than an answer is believed.
func TestRevokedTokenIsRefused(t *testing.T) {
	t.Parallel()
	b, s, conn := open(t)
	id, token := s.make("tools:read")
	who, err := b.LookUp(t.Context(), token)
	if err != nil || who.User != "ana" || who.Token != id || who.Grant.Allow(auth.ReadTools) != nil || who.Grant.Allow(auth.CallTools) == nil {
		t.Fatalf("%+v, %v", who, err)
	}
	ended := make(chan struct{})
	defer who.OnRevoked(func() { close(ended) })()
	if err := conn.Publish(bus.RevokedSubject(id), nil); err != nil {
		t.Fatal(err)
	}
	<-ended
	isNone(t, b, token) // while the store would still say otherwise
	again := make(chan struct{})
	defer who.OnRevoked(func() { close(again) })()
	<-again

	id, token = s.make("tools:read")
	if who, err = b.LookUp(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	missed := make(chan struct{})
	defer who.OnRevoked(func() { close(missed) })()
	began := time.Now()
	s.set(func() { delete(s.records, id) }) // and nobody says so
	<-missed
	isNone(t, b, token)
	if took := time.Since(began); took > 2*Fresh {
		t.Errorf("it was good for another %v", took)
	}
}

// An answer that was on its way when the token was revoked does not bring it back.
func TestLateAnswerDoesNotUndoARevocation(t *testing.T) {
	t.Parallel()
	b, s, conn := open(t)
	id, token := s.make("full")
	asked := time.Now()
	if err := conn.Publish(bus.RevokedSubject(id), nil); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		_, known := b.remembered(id)
		return known
	}, "the word has come")
	b.note(id, s.records[id], asked)
	isNone(t, b, token)
}

// Where the store is away nobody knows whether a token is good: that is not said to be the token's fault. What is open with it ends
// when that has lasted for too long.
func TestStoreIsAway(t *testing.T) {
	t.Parallel()
	b, s, _ := open(t)
	id, token := s.make("full")
	who, err := b.LookUp(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	defer who.OnRevoked(func() { close(ended) })()
	s.set(func() { s.away = true })
	testkit.Eventually(t, 10*time.Second, func() bool {
		_, err := b.LookUp(t.Context(), token)
		return errors.Is(err, errs.AgentUnavailable)
	}, "an old answer is not believed any more")
	select {
	case <-ended:
		t.Error("a connection ended at once")
	default:
	}
	b.mu.Lock()
	b.pages[id].asked = time.Now().Add(-auth.Grace)
	b.mu.Unlock()
	<-ended
	s.set(func() { s.away = false })
	if _, err := b.LookUp(t.Context(), token); err != nil {
		t.Errorf("once it is back: %v", err)
	}
}

// Many who show a token at once cost one question, and so do many that nobody made: of those no more than a bound are remembered.
func TestQuestionsAreShared(t *testing.T) {
	t.Parallel()
	b, s, _ := open(t)
	_, token := s.make("full")
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if _, err := b.LookUp(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.set(func() {
		if s.asked > 20 {
			t.Errorf("%d questions for one token", s.asked)
		}
	})
	for _, text := range []string{"", "hct_", "hct_x_y", token + "0", token[:len(token)-1]} {
		isNone(t, b, text)
	}
	before := s.asked
	_, never := auth.NewFixed()
	isNone(t, b, never)
	isNone(t, b, never)
	if s.asked > before+2 {
		t.Errorf("%d questions for one that was never made", s.asked-before)
	}
}
