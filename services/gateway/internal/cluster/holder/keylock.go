package holder

import (
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// keyLock locks names. The zero value is ready.
type keyLock struct {
	mu    sync.Mutex
	locks map[ids.Node]*refLock
}

type refLock struct {
	sync.Mutex
	users int // guarded by the keyLock's mu
}

// lock waits for the name and returns what gives it back.
func (k *keyLock) lock(key ids.Node) (unlock func()) {
	k.mu.Lock()
	if k.locks == nil {
		k.locks = make(map[ids.Node]*refLock)
	}
	l := k.locks[key]
	if l == nil {
		l = &refLock{}
		k.locks[key] = l
	}
	l.users++
	k.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.locks, key)
		}
	}
}
