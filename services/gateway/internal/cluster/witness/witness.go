package witness

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// maxQuestions bounds one message; who has more to ask asks again.
const maxQuestions = 16 << 10

// Options of a Witness.
type Options struct {
	Gateway ids.GatewayID
	Bus     *bus.Conn
	Logger  *slog.Logger
}

// Witness knows what this pod has seen, and asks the others. It is safe for concurrent use.
type Witness struct {
	Options
	seen    *seen
	members *members
	subs    [2]*nats.Subscription

	mu      sync.Mutex
	next    uint64
	inquiry map[uint64]chan<- message // answers to open questions
}

// New returns a Witness that listens until Close, and has told the other gateways of this one.
func New(o Options) (*Witness, error) {
	now := time.Now()
	w := &Witness{
		Options: o, seen: newSeen(now), members: &members{since: now, all: map[ids.GatewayID]*member{}},
		inquiry: map[uint64]chan<- message{},
	}
	for i, subject := range []string{bus.GatewaysSubject, bus.GatewaySubject(o.Gateway)} {
		var err error
		if w.subs[i], err = o.Bus.Subscribe(subject, w.heard); err != nil {
			return nil, err
		}
	}
	o.Bus.OnReconnect(func() { w.members.back(time.Now()) })
	return w, w.Announce()
}

// Announce tells the other gateways that this one is there. Who takes calls has announced itself within [memory].
func (w *Witness) Announce() error {
	return w.Bus.PublishMsg(message{kind: here, from: w.Gateway}.to(bus.GatewaysSubject))
}

// Take notes that this pod is about to hand a call to its node. It must not where ok is false: the call's router has been told that it was
// not seen.
func (w *Witness) Take(id ids.CallID) (ok bool) { return w.seen.take(id, time.Now()) }

// Close says last which calls this pod has seen. No call may be taken from then on.
func (w *Witness) Close() {
	words := message{kind: gone, from: w.Gateway, data: appendDigests(nil, w.seen.all())}
	if len(words.data) > w.Bus.MaxMessage() {
		words.kind, words.data = silent, nil
	}
	if err := w.Bus.PublishMsg(words.to(bus.GatewaysSubject)); err != nil {
		w.Logger.Warn("the other gateways could not be told that this one ends", "error", err)
	}
	for _, s := range w.subs {
		_ = s.Unsubscribe() // fails only once the bus is closed
	}
}

func (w *Witness) heard(m *nats.Msg) {
	got, err := parse(m)
	now := time.Now()
	var words map[digest]struct{}
	if err == nil && got.kind == gone {
		words, err = parseDigests(got.data)
	}
	if err != nil {
		w.Logger.Warn("bus", "error", err)
		return
	}
	switch got.kind {
	case here:
		w.members.here(got.from, now)
	case gone, silent:
		w.members.gone(got.from, words, now)
	case ask:
		w.reply(got, now)
	case answer:
		w.mu.Lock()
		defer w.mu.Unlock()
		select {
		case w.inquiry[got.number] <- got: // there is a place for each witness; nil where nobody waits any more
		default:
		}
	}
}

func (w *Witness) reply(m message, now time.Time) {
	questions, err := parseQuestions(m.data)
	if err != nil {
		w.Logger.Warn("bus", "error", err)
		return
	}
	said := appendAnswer(nil, w.seen.deny(questions, now), w.members.names(now))
	reply := message{kind: answer, from: w.Gateway, number: m.number, data: said}.to(bus.GatewaySubject(m.from))
	if err := w.Bus.PublishMsg(reply); err != nil {
		w.Logger.Warn("a gateway could not be told what was seen of its calls", "error", err)
	}
}

// Call is one of which nothing was heard.
type Call struct {
	ID             ids.CallID
	Sent, Deadline time.Time
}

// Unseen asks all gateways about calls of this pod. It reports of each whether it is certain that nobody has seen it, and that
// nobody will; not where ctx ends before all have answered. Ask again what it says nothing about.
func (w *Witness) Unseen(ctx context.Context, calls []Call) []bool {
	unseen := make([]bool, len(calls))
	calls = calls[:min(len(calls), maxQuestions)]
	now := time.Now()
	round := round{missing: map[ids.GatewayID]struct{}{}, answered: map[ids.GatewayID]struct{}{w.Gateway: {}}}
	var payload []byte
	for i, c := range calls {
		q := question{digestOf(c.ID), now.Sub(c.Sent), c.Deadline}
		payload = appendQuestion(payload, q)
		ask, maybe := w.members.witnesses(q.call, c.Sent, now)
		unseen[i] = !maybe
		for _, id := range ask {
			round.missing[id] = struct{}{}
		}
	}
	answers, number, done := w.open(len(round.missing))
	defer done()
	if err := w.Bus.PublishMsg(message{ask, w.Gateway, number, payload}.to(bus.GatewaysSubject)); err != nil {
		return make([]bool, len(unseen))
	}
	for len(round.missing) > 0 {
		select {
		case m := <-answers:
			maybe, known, err := parseAnswer(m.data, len(calls))
			if err != nil {
				w.Logger.Warn("bus", "error", err)
				continue
			}
			for i := range calls {
				unseen[i] = unseen[i] && !maybe[i]
			}
			round.answer(m.from, known, w.members)
		case <-ctx.Done():
			return make([]bool, len(unseen))
		}
	}
	return unseen
}

// round is who has to answer a question.
type round struct{ missing, answered map[ids.GatewayID]struct{} }

// answer notes an answer. Gateways that only its sender knows have to answer, too: they came while this pod was off the bus.
func (r round) answer(from ids.GatewayID, known []ids.GatewayID, m *members) {
	delete(r.missing, from)
	r.answered[from] = struct{}{}
	for _, id := range known {
		if _, ok := r.answered[id]; !ok && !m.ended(id) {
			r.missing[id] = struct{}{}
		}
	}
}

// open returns where the answers to the next question come.
func (w *Witness) open(witnesses int) (answers <-chan message, number uint64, done func()) {
	ch := make(chan message, witnesses+64) // those that came meanwhile answer, too
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	number = w.next
	w.inquiry[number] = ch
	return ch, number, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.inquiry, number)
	}
}
