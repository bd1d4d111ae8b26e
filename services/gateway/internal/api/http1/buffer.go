package http1

import "sync"

// bufferSize is how much of an answer is gathered before it is written.
const bufferSize = 4 << 10

type block [bufferSize]byte

var blocks = sync.Pool{New: func() any { return new(block) }}
