package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// Complete puts a document into the index, whole, in the place of what was there of it. ErrLost: nothing was changed.
func (s *Store) Complete(ctx context.Context, c *Claim, model string, chunks []Indexed) (d Document, err error) {
	done := false
	err = s.write(ctx, func(t *transaction) error {
		// The base's row is locked before those of its documents, by all who lock both.
		var base int64
		err := t.row(`SELECT num FROM kb_bases WHERE num = ? {for update}`, []any{c.baseNum}, &base)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrLost
		}
		if err != nil {
			return err
		}
		err = t.under(c, `UPDATE kb_documents SET status = 'completed', error = NULL, progress = 1, chunks = ?, model = ?, claimed_until = 0, updated_at = {now}`,
			len(chunks), model)
		if err != nil {
			return err
		}
		if d, err = t.document(c.User, c.Base, c.ID); err != nil {
			return err
		}
		if done { // an attempt whose answer was lost may have been carried out
			var n int
			if err := t.row(`SELECT count(*) FROM kb_chunks WHERE document_num = ?`, []any{c.num}, &n); err != nil || n == len(chunks) {
				return err
			}
		}
		done = true
		if err := s.unindex(t, d); err != nil {
			return err
		}
		return s.fill(t, d, model, chunks)
	})
	return d, err
}

// fill adds chunks to the index.
func (s *Store) fill(t *transaction, d Document, model string, chunks []Indexed) error {
	rows := make([][]any, len(chunks))
	var postings [][]any
	total := 0
	vectors := make([]vector, len(chunks))
	for i, c := range chunks {
		headings, err := json.Marshal(append([]string{}, c.Headings...))
		if err != nil {
			return err
		}
		id := chunkID(d.num, i)
		rows[i] = []any{id, d.baseNum, d.num, c.Content, c.Page, string(headings), c.Repeated}
		vectors[i] = vector{id, c.Vector}
		total += len(c.Terms)
		times := map[string]int{}
		for _, term := range c.Terms {
			times[term]++
		}
		for term, n := range times {
			postings = append(postings, []any{d.baseNum, term, id, n, len(c.Terms)})
		}
	}
	if err := t.insert(`INSERT INTO kb_chunks (id, base_num, document_num, content, page, headings, repeated)`, rows); err != nil {
		return err
	}
	if err := t.insert(`INSERT INTO kb_postings (base_num, term, chunk_id, times, length)`, postings); err != nil {
		return err
	}
	if err := s.vectors.insert(t, d.baseNum, model, vectors); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE kb_bases SET chunks = chunks + ?, terms = terms + ?, updated_at = {now} WHERE num = ?`, len(chunks), total, d.baseNum)
	return err
}

// AllChunks returns all chunks of a document that a worker has claimed, in order.
func (s *Store) AllChunks(ctx context.Context, c *Claim) (list []Chunk, err error) {
	err = s.read(ctx, func(t *transaction) error {
		list = nil
		return t.rows(`SELECT content, page, headings, repeated FROM kb_chunks WHERE document_num = ? ORDER BY id`, []any{c.num},
			func(scan func(...any) error) error {
				chunk, err := scanChunk(scan)
				list = append(list, chunk)
				return err
			})
	})
	return list, err
}

// Reembed replaces a document's vectors by those of another model; there is one for each chunk, in order.
func (s *Store) Reembed(ctx context.Context, c *Claim, model string, list [][]float32) error {
	return s.write(ctx, func(t *transaction) error {
		var base int64
		err := t.row(`SELECT num FROM kb_bases WHERE num = ? {for update}`, []any{c.baseNum}, &base)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrLost
		}
		if err != nil {
			return err
		}
		if err := t.under(c, `UPDATE kb_documents SET model = ?, claimed_until = 0, attempts = 0, error = NULL`, model); err != nil {
			return err
		}
		if _, err := t.exec(`DELETE FROM `+s.vectors.table()+` WHERE chunk_id BETWEEN ? AND ?`, chunkID(c.num, 0), chunkID(c.num+1, 0)-1); err != nil {
			return err
		}
		vectors := make([]vector, len(list))
		for i, v := range list {
			vectors[i] = vector{chunkID(c.num, i), v}
		}
		return s.vectors.insert(t, c.baseNum, model, vectors)
	})
}

// DimensionError says that a model gives vectors of another length than before.
type DimensionError struct {
	Model     string
	Got, Want int
}

func (e *DimensionError) Error() string {
	return fmt.Sprintf("the embedding model %s gave a vector of %d dimensions; its vectors here have %d", e.Model, e.Got, e.Want)
}

// CheckDimensions remembers how long a model's vectors are, the first time, and fails with a *DimensionError where they have
// another length later.
func (s *Store) CheckDimensions(ctx context.Context, model string, dimensions int) error {
	s.mu.Lock()
	known, ok := s.dims[model]
	s.mu.Unlock()
	if !ok {
		err := s.write(ctx, func(t *transaction) error {
			if _, err := t.exec(`INSERT INTO kb_models (name, dimensions) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, model, dimensions); err != nil {
				return err
			}
			return t.row(`SELECT dimensions FROM kb_models WHERE name = ?`, []any{model}, &known)
		})
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.dims[model] = known
		s.mu.Unlock()
	}
	if known != dimensions {
		return &DimensionError{model, dimensions, known}
	}
	return nil
}
