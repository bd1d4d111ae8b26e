package store

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Lengths of vectors that pgvector can index, in 4 and in 2 bytes a number.
const (
	maxVector     = 2000
	maxHalfVector = 4000
)

// pgVectors are in a table of pgvector, with one HNSW index for each length that vectors have.
type pgVectors struct {
	mu      sync.Mutex
	indexed map[int]bool // lengths whose index this pod knows to be there; guarded by mu
}

func (*pgVectors) table() string { return "kb_embeddings" }

// kind is the type under which vectors of a length are indexed, and its operators; "" where they cannot be.
func kind(dimensions int) (column, operators string) {
	switch {
	case dimensions <= maxVector:
		return fmt.Sprintf("embedding::vector(%d)", dimensions), "vector_cosine_ops"
	case dimensions <= maxHalfVector:
		return fmt.Sprintf("embedding::halfvec(%d)", dimensions), "halfvec_cosine_ops"
	}
	return fmt.Sprintf("embedding::vector(%d)", dimensions), ""
}

func (p *pgVectors) insert(t *transaction, base int64, model string, list []vector) error {
	if len(list) == 0 {
		return nil
	}
	dimensions := len(list[0].values)
	if err := p.index(t, dimensions); err != nil {
		return err
	}
	rows := make([][]any, len(list))
	for i, v := range list {
		rows[i] = []any{v.chunk, base, model, dimensions, literal(v.values)}
	}
	return t.insert(`INSERT INTO kb_embeddings (chunk_id, base_num, model, dimensions, embedding)`, rows)
}

// index makes the index of a length. The first vectors of that length make it, while its part of the table is empty.
func (p *pgVectors) index(t *transaction, dimensions int) error {
	p.mu.Lock()
	known := p.indexed[dimensions]
	p.mu.Unlock()
	column, operators := kind(dimensions)
	if known || operators == "" {
		return nil
	}
	name := fmt.Sprintf("kb_embeddings_%d", dimensions)
	var there bool
	if err := t.row(`SELECT to_regclass(?) IS NOT NULL`, []any{name}, &there); err != nil {
		return err
	}
	if !there {
		// Of two pods that would make it at once, the second waits, and finds it.
		if _, err := t.exec(`SELECT pg_advisory_xact_lock(?)`, int64(migrationLock)); err != nil {
			return err
		}
		if _, err := t.ExecContext(t.ctx, fmt.Sprintf(`CREATE INDEX IF NOT EXISTS %s ON kb_embeddings USING hnsw ((%s) %s)
			WITH (m = 16, ef_construction = 100) WHERE dimensions = %d`, name, column, operators, dimensions)); err != nil {
			return err
		}
		return nil // known once it is seen: this transaction may be undone
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.indexed[dimensions] = true
	return nil
}

func (p *pgVectors) nearest(t *transaction, bases []int64, model string, to []float32, limit int) (ids []int64, err error) {
	column, _ := kind(len(to))
	_, cast, _ := strings.Cut(column, "::")
	err = t.rows(fmt.Sprintf(`SELECT chunk_id FROM kb_embeddings WHERE base_num IN (%s) AND model = ? AND dimensions = %d ORDER BY %s <=> ?::%s LIMIT ?`,
		marks(len(bases)), len(to), column, cast), append(arguments(bases), model, literal(to), limit),
		func(scan func(...any) error) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}

// literal writes a vector as pgvector reads it.
func literal(values []float32) string {
	b := make([]byte, 0, 12*len(values)+2)
	b = append(b, '[')
	for i, x := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}
