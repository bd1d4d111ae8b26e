package calls

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

const (
	// MaxWaiting is how many calls may wait for a place at one node.
	MaxWaiting = 64
	// CancelGrace is how long a cancelled call keeps its place while the node has not answered.
	CancelGrace = 5 * time.Second
)

// Socket is what a Table needs of its connection.
type Socket interface {
	Send(frame []byte, note conn.Note) error
}

// Codec is what a Table needs of its node's dialect.
type Codec interface {
	// Cancel is as in [codec.Codec].
	Cancel(id ids.CallID, reason string) []byte
}

// Table keeps the calls at one node.
type Table struct {
	socket Socket // static
	codec  Codec  // static

	mu      sync.Mutex
	places  int
	taken   int // places in use, by running or abandoned calls
	running map[ids.CallID]*entry
	waiting []*entry // calls that need a place, in order of arrival
	relayed []*entry // running relayed calls, oldest first
	closed  *errs.Error
	idle    chan struct{} // closed when nothing is open any more; non-nil while draining
}

// entry is one open call. Its fields are guarded by the table's mu, except began.
type entry struct {
	Call
	sink  Sink
	heard time.Time   // when the sink last heard anything
	stage stage       // only moves forward
	began atomic.Bool // whether the first byte may have left; set by the socket's writer
}

type stage uint8

const (
	arrived   stage = iota
	waits           // for a place
	runs            // its frame was queued at the socket
	abandoned       // given up by the caller, still holds its place
)

// New returns the table of a connection.
func New(socket Socket, c Codec, places int) *Table {
	return &Table{socket: socket, codec: c, places: places}
}

// SetPlaces changes how many calls may run at once; calls that run already go on.
func (t *Table) SetPlaces(n int) {
	t.mu.Lock()
	t.places = n
	told := t.fill()
	t.mu.Unlock()
	told.tell()
}

// Start takes a call. The sink is told what becomes of it.
func (t *Table) Start(c Call, sink Sink) {
	e := &entry{Call: c, sink: sink, heard: time.Now()}
	t.mu.Lock()
	told := t.admit(e)
	t.mu.Unlock()
	told.tell()
}

func (t *Table) admit(e *entry) notices {
	switch {
	case t.closed != nil:
		return failed(e, t.closed)
	case t.idle != nil:
		return failed(e, errs.New(errs.Draining, "the node's pod is shutting down"))
	case t.running[e.ID] != nil || slices.ContainsFunc(t.waiting, func(w *entry) bool { return w.ID == e.ID }):
		return failed(e, errs.New(errs.NodeBusy, "a call with the id %s is open already", e.ID))
	case e.Kind == codec.Relayed:
		return t.run(e)
	case t.taken < t.places && len(t.waiting) == 0:
		t.taken++
		return t.run(e)
	case len(t.waiting) >= MaxWaiting:
		return failed(e, errs.New(errs.NodeBusy, "%d calls run and %d wait at this node", t.taken, len(t.waiting)))
	}
	e.stage = waits
	t.waiting = append(t.waiting, e)
	return notices{{e: e, status: Queued}}
}

// run hands a call to the socket; the place of a tool call has been taken.
func (t *Table) run(e *entry) notices {
	queued := e.stage == waits
	e.stage = runs
	if t.running == nil {
		t.running = make(map[ids.CallID]*entry)
	}
	t.running[e.ID] = e
	if e.Kind == codec.Relayed {
		t.relayed = append(t.relayed, e)
	}
	if err := t.socket.Send(e.Frame, e); err != nil {
		t.forget(e)
		return failed(e, errs.New(errs.NodeNotConnected, "the node's connection is closing"))
	}
	e.Frame = nil
	if queued || e.Kind == codec.Relayed {
		return notices{{e: e, status: Sent}}
	}
	return nil
}

// Writing is called by the socket's writer just before the frame's first byte may leave.
func (e *entry) Writing() { e.began.Store(true) }

// forget drops a call from the books and frees its place.
func (t *Table) forget(e *entry) {
	delete(t.running, e.ID)
	if e.Kind == codec.Relayed {
		t.relayed = slices.DeleteFunc(t.relayed, func(f *entry) bool { return f == e })
	} else {
		t.taken--
	}
	if t.idle != nil && len(t.running) == 0 && len(t.waiting) == 0 {
		close(t.idle)
		t.idle = nil
		t.closed = errs.New(errs.Draining, "the node's pod is shutting down")
	}
}

// fill gives free places to those who wait.
func (t *Table) fill() notices {
	var told notices
	for t.taken < t.places && len(t.waiting) > 0 {
		e := t.waiting[0]
		t.waiting = slices.Delete(t.waiting, 0, 1)
		if time.Now().After(e.Deadline) {
			told = append(told, tooLate(e)...)
			continue
		}
		t.taken++
		told = append(told, t.run(e)...)
	}
	return told
}

func tooLate(e *entry) notices {
	return failed(e, errs.New(errs.NodeBusy, "the call waited for a place until its deadline"))
}

// Answer hands an answer to the tool call of that id and takes over the reference. It reports whether somebody waited for it.
func (t *Table) Answer(id ids.CallID, answer *frame.Buffer) bool {
	t.mu.Lock()
	e := t.running[id]
	if e == nil || e.Kind != codec.ToolCall {
		t.mu.Unlock()
		answer.Release()
		return false
	}
	told, live := t.finish(e, answer)
	t.mu.Unlock()
	told.tell()
	return live
}

// Complete hands an answer to the relayed call of that name; where the name is empty, to the oldest that runs. It takes over
// the reference and reports whether somebody waited for it.
func (t *Table) Complete(name string, completion *frame.Buffer) bool {
	t.mu.Lock()
	i := slices.IndexFunc(t.relayed, func(e *entry) bool { return e.Name == name })
	if i < 0 && len(t.relayed) > 0 && name == "" {
		i = 0
	}
	if i < 0 {
		t.mu.Unlock()
		completion.Release()
		return false
	}
	told, live := t.finish(t.relayed[i], completion)
	t.mu.Unlock()
	told.tell()
	return live
}

// finish ends a call with its answer and fills its place. It reports whether the caller still waits.
func (t *Table) finish(e *entry, answer *frame.Buffer) (told notices, live bool) {
	if live = e.stage == runs; live {
		told = notices{{e: e, done: true, answer: answer}}
	} else {
		answer.Release()
	}
	t.forget(e)
	return append(told, t.fill()...), live
}

// Progress hands news to its call and reports whether somebody waited for it.
func (t *Table) Progress(id ids.CallID, params []byte) bool {
	t.mu.Lock()
	e := t.running[id]
	known := e != nil && e.stage == runs
	if known {
		e.heard = time.Now()
	}
	t.mu.Unlock()
	if known {
		e.sink.Progress(params)
	}
	return known
}

// Cancel gives up a call. One that waits ends as not delivered. Where it runs, the node is told, and its place is free once the
// node answers or after [CancelGrace]. Its sink is told nothing more. Cancel reports whether the call was
// open.
func (t *Table) Cancel(id ids.CallID, reason string) bool {
	t.mu.Lock()
	if i := slices.IndexFunc(t.waiting, func(e *entry) bool { return e.ID == id }); i >= 0 {
		e := t.waiting[i]
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.mu.Unlock()
		tooLate(e).tell()
		return true
	}
	e := t.running[id]
	if e == nil || e.stage == abandoned {
		t.mu.Unlock()
		return false
	}
	t.abandon(e, reason)
	t.mu.Unlock()
	return true
}

func (t *Table) abandon(e *entry, reason string) {
	e.stage = abandoned
	if e.Kind == codec.Relayed {
		t.forget(e)
		return
	}
	if cancel := t.codec.Cancel(e.ID, reason); cancel != nil {
		_ = t.socket.Send(cancel, nil) // a closed socket ends all calls anyway
	}
	time.AfterFunc(CancelGrace, func() {
		t.mu.Lock()
		var told notices
		if t.running[e.ID] == e {
			t.forget(e)
			told = t.fill()
		}
		t.mu.Unlock()
		told.tell()
	})
}

// Open returns how many calls wait or run, those that were given up not counted.
func (t *Table) Open() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.waiting)
	for _, e := range t.running {
		if e.stage == runs {
			n++
		}
	}
	return n
}

// Idle reports whether nothing is at the node, calls that were given up included.
func (t *Table) Idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.running) == 0 && len(t.waiting) == 0
}

// Waiting returns how many calls wait for a place.
func (t *Table) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}

// Sweep tells the sinks that heard nothing for longer than silence that their calls are still open, and drops calls
// whose caller has not spoken up by grace after the deadline: it is gone.
func (t *Table) Sweep(now time.Time, silence, grace time.Duration) {
	var told notices
	t.mu.Lock()
	for _, e := range t.running {
		switch {
		case e.stage != runs:
		case now.After(e.Deadline.Add(grace)):
			t.abandon(e, "deadline exceeded")
		case now.Sub(e.heard) >= silence:
			e.heard = now
			told = append(told, notice{e: e, status: Working})
		}
	}
	for _, e := range slices.Clone(t.waiting) {
		switch {
		case now.After(e.Deadline.Add(grace)):
			t.waiting = slices.DeleteFunc(t.waiting, func(w *entry) bool { return w == e })
			told = append(told, tooLate(e)...)
		case now.Sub(e.heard) >= silence:
			e.heard = now
			told = append(told, notice{e: e, status: Working})
		}
	}
	t.mu.Unlock()
	told.tell()
}

// Drain refuses new calls and returns a channel that is closed once nothing is open.
func (t *Table) Drain() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	idle := make(chan struct{})
	if t.closed != nil || len(t.running) == 0 && len(t.waiting) == 0 {
		if t.closed == nil {
			t.closed = errs.New(errs.Draining, "the node's pod is shutting down")
		}
		close(idle)
		return idle
	}
	if t.idle == nil {
		t.idle = idle
	}
	return t.idle
}

// Close ends every call of a connection that is ending: its socket must have stopped to begin frames. Calls whose bytes never began to be
// written were not delivered, the others have an unknown outcome.
func (t *Table) Close(why string) {
	var told notices
	t.mu.Lock()
	t.closed = errs.New(errs.NodeNotConnected, "%s", why)
	for _, e := range t.running {
		if e.stage != runs {
			continue
		}
		if e.began.Load() {
			told = append(told, failed(e, errs.New(errs.NodeDisconnected, "%s during the call", why))...)
		} else {
			told = append(told, failed(e, t.closed)...)
		}
	}
	for _, e := range t.waiting {
		told = append(told, failed(e, t.closed)...)
	}
	t.running, t.waiting, t.relayed, t.taken = nil, nil, nil, 0
	if t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
	t.mu.Unlock()
	told.tell()
}
