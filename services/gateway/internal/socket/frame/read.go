package frame

import (
	"context"
	"errors"
	"io"
)

// Read reads one frame to its end. hint is the size that is likely, such as the size of the one before. The frame counts
// against owner's part of budget once it proves [Large]; ctx ends that wait, not the reading.
func Read(ctx context.Context, r io.Reader, hint int, budget *Budget, owner Owner) (*Buffer, error) {
	b := Get(hint)
	for {
		if cap(b.data) >= Large && int64(cap(b.data)) > b.taken && len(b.data) > Large/2 {
			more := int64(cap(b.data)) - b.taken
			budget.take(ctx, owner, more)
			b.budget, b.owner, b.taken = budget, owner, b.taken+more
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			b.Release()
			return nil, err
		}
		if len(b.data) == cap(b.data) {
			b = b.grow()
		}
	}
}

// ReadFull reads a frame of a known size. It waits for budget as [Read] does, but as nobody's: those behind it on the same way
// must not wait for what one owner uses.
func ReadFull(r io.Reader, size int, budget *Budget) (*Buffer, error) {
	b := Get(size)
	if size >= Large {
		budget.take(context.Background(), "", int64(size))
		b.budget, b.taken = budget, int64(size)
	}
	b.data = b.data[:size]
	if _, err := io.ReadFull(r, b.data); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}
