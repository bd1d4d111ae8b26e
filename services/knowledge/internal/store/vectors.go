package store

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"math"
	"slices"
)

// vector is that of a chunk.
type vector struct {
	chunk  int64
	values []float32
}

// vectors is where vectors are and how the nearest are found. All are of length 1, so their cosine is their product.
type vectors interface {
	table() string
	insert(t *transaction, base int64, model string, list []vector) error
	// nearest returns the chunks of some bases whose vectors of a model are nearest to one, nearest first.
	nearest(t *transaction, bases []int64, model string, to []float32, limit int) ([]int64, error)
}

// plainVectors are bytes in a table, which are compared one by one.
type plainVectors struct{}

func (plainVectors) table() string { return "kb_vectors" }

func (plainVectors) insert(t *transaction, base int64, model string, list []vector) error {
	rows := make([][]any, 0, len(list))
	for _, v := range list {
		raw := make([]byte, 4*len(v.values))
		for i, x := range v.values {
			binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(x))
		}
		rows = append(rows, []any{v.chunk, base, model, raw})
	}
	return t.insert(`INSERT INTO kb_vectors (chunk_id, base_num, model, vector)`, rows)
}

func (plainVectors) nearest(t *transaction, bases []int64, model string, to []float32, limit int) ([]int64, error) {
	rows, err := t.QueryContext(t.ctx, t.d.text(`SELECT chunk_id, vector FROM kb_vectors WHERE base_num IN (`+marks(len(bases))+`) AND model = ?`),
		append(arguments(bases), model)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var best farthest
	var raw []byte
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id, &raw); err != nil {
			return nil, err
		}
		if len(raw) != 4*len(to) {
			continue
		}
		one := near{id, product(raw, to)}
		if len(best) < limit {
			heap.Push(&best, one)
		} else if one.before(best[0]) {
			best[0] = one
			heap.Fix(&best, 0)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(best, func(a, b near) int { return cmp.Or(cmp.Compare(b.product, a.product), cmp.Compare(a.chunk, b.chunk)) })
	ids := make([]int64, len(best))
	for i, n := range best {
		ids[i] = n.chunk
	}
	return ids, nil
}

func product(raw []byte, to []float32) float64 {
	var sum float64
	for i, x := range to {
		sum += float64(x) * float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return sum
}

// near is a chunk with the product of its vector and the one asked for.
type near struct {
	chunk   int64
	product float64
}

func (n near) before(m near) bool {
	return n.product > m.product || n.product == m.product && n.chunk < m.chunk
}

// farthest is a heap with the one to give up first at its top.
type farthest []near

func (f farthest) Len() int           { return len(f) }
func (f farthest) Less(i, j int) bool { return f[j].before(f[i]) }
func (f farthest) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }

// Push implements [heap.Interface].
func (f *farthest) Push(x any) { *f = append(*f, x.(near)) }

// Pop implements [heap.Interface].
func (f *farthest) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}
