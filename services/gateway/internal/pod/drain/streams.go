package drain

import "sync"

// Streams are the responses that go on while somebody listens (server-sent events). A drain ends those that it finds, like
// other connections; those that begin later serve clients that know no other pod, and last until the pod closes. A stream whose
// end would cancel the run that it reports may go on until the run ends, within the grace period.
//
// The zero value is ready. It is safe for concurrent use.
type Streams struct {
	mu    sync.Mutex
	stage stage
	early map[*stream]struct{} // found by the drain
	late  map[*stream]struct{}
}

// stage is what becomes of streams.
type stage uint8

const (
	welcome  stage = iota
	leaving        // the drain has begun
	closing        // streams end, except those whose end would cancel a run
	cutShort       // every stream ends
)

// stream is one of them, and a [Connection].
type stream struct {
	endsRun bool
	told    func()
	leave   chan struct{} // closed by told
	over    chan struct{} // closed when it has ended
}

// Retire implements [Connection].
func (s *stream) Retire() <-chan struct{} {
	if s.endsRun {
		return s.over
	}
	return idle
}

// Leave implements [Connection].
func (s *stream) Leave() { s.told() }

// Enter adds a stream, which has to end when leave is closed. Call left when it has. endsRun says that its end cancels the run
// that it reports.
func (s *Streams) Enter(endsRun bool) (leave <-chan struct{}, left func()) {
	st := &stream{endsRun: endsRun, leave: make(chan struct{}), over: make(chan struct{})}
	st.told = sync.OnceFunc(func() { close(st.leave) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.early == nil {
		s.early, s.late = map[*stream]struct{}{}, map[*stream]struct{}{}
	}
	in := s.early
	if s.stage > welcome {
		in = s.late
	}
	in[st] = struct{}{}
	if s.ends(st) {
		st.told()
	}
	return st.leave, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(in, st)
		close(st.over)
	})
}

// ends reports whether a stream that the drain did not find shall be over by now. mu is held.
func (s *Streams) ends(st *stream) bool {
	return s.stage == cutShort || s.stage == closing && !st.endsRun
}

// Begin says that the drain begins.
func (s *Streams) Begin() { s.move(leaving) }

// Close ends the streams that began during the drain, except those whose end would cancel a run.
func (s *Streams) Close() { s.move(closing) }

// Cut ends these as well.
func (s *Streams) Cut() { s.move(cutShort) }

func (s *Streams) move(to stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stage = max(s.stage, to)
	for st := range s.late {
		if s.ends(st) {
			st.told()
		}
	}
}

// Connections returns the streams that a drain ends.
func (s *Streams) Connections() []Connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := make([]Connection, 0, len(s.early))
	for st := range s.early {
		open = append(open, st)
	}
	return open
}
