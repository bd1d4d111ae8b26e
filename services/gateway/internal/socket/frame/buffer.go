package frame

import (
	"bytes"
	"math/bits"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/mem"
)

const (
	minClass = 10 // 1 KiB
	maxClass = 24 // 16 MiB
)

var pools [maxClass + 1]sync.Pool // of *Buffer with 1<<class bytes

// Buffer is one frame's bytes, shared by reference. Who gets a Buffer owns one reference and releases it once.
type Buffer struct {
	data   []byte // capacity is the class's size
	class  int
	refs   atomic.Int32
	budget *Budget
	owner  Owner
	taken  int64
}

// Get returns an empty buffer with room for at least size bytes.
func Get(size int) *Buffer {
	class := max(minClass, bits.Len(uint(max(size, 1)-1)))
	var b *Buffer
	if class <= maxClass {
		b, _ = pools[class].Get().(*Buffer)
	}
	if b == nil {
		b = &Buffer{data: make([]byte, 0, 1<<class), class: class}
	}
	b.refs.Store(1)
	return b
}

// Wrap returns a buffer around bytes that belong to the garbage collector.
func Wrap(data []byte) *Buffer {
	b := &Buffer{data: data, class: maxClass + 1}
	b.refs.Store(1)
	return b
}

// Bytes returns the frame; it may be read until the reference is released.
func (b *Buffer) Bytes() []byte { return b.data }

// Retain adds a reference.
func (b *Buffer) Retain() { b.refs.Add(1) }

// Release gives one reference back; with the last one the bytes may be used for another frame.
func (b *Buffer) Release() {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("frame: released more often than retained")
	}
	if b.budget != nil {
		b.budget.give(b.owner, b.taken)
		b.budget, b.taken = nil, 0
	}
	if b.class <= maxClass {
		b.data = b.data[:0]
		pools[b.class].Put(b)
	}
}

// grow returns a buffer of the next class with the same bytes and releases b.
func (b *Buffer) grow() *Buffer {
	next := Get(2 * cap(b.data))
	next.data = append(next.data, b.data...)
	next.budget, next.owner, next.taken = b.budget, b.owner, b.taken
	b.budget, b.taken = nil, 0
	b.Release()
	return next
}

// Mem returns part, a slice of b's bytes, as a gRPC buffer that takes over the caller's reference.
func (b *Buffer) Mem(part []byte) mem.Buffer {
	part = part[:len(part):len(part)]
	if mem.IsBelowBufferPoolingThreshold(cap(part)) { // gRPC would never give it back
		defer b.Release()
		return mem.SliceBuffer(bytes.Clone(part))
	}
	return mem.NewBuffer(&part, releaser{b})
}

// releaser is the gRPC buffer pool of one buffer.
type releaser struct{ b *Buffer }

func (r releaser) Get(int) *[]byte { panic("frame: a releaser lends nothing") }
func (r releaser) Put(*[]byte)     { r.b.Release() }
