package store

import (
	"context"
	"math"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Parameters of Okapi BM25.
const (
	k1 = 1.2
	b  = 0.75
)

// Query is what is looked for.
type Query struct {
	User  ids.UserID
	Bases []string // none: all of the user's
	// Terms of the query, with repetitions; none: the list of keywords is not asked for.
	Terms []string
	// Vector of the query, of length 1, and the model that made it; nil: the list of vectors is not asked for.
	Vector []float32
	Model  string
	// Limit of each list.
	Limit int
}

// Lists are the ids of chunks, best first.
type Lists struct {
	Vectors, Keywords []int64
	// Stale says that some documents have no vectors of this model yet.
	Stale bool
}

// Find returns both lists, of one state of the database.
func (s *Store) Find(ctx context.Context, q Query) (l Lists, err error) {
	err = s.read(ctx, func(t *transaction) error {
		l = Lists{}
		bases, err := t.baseNums(q.User, q.Bases)
		if err != nil || len(bases) == 0 {
			return err
		}
		if q.Vector != nil {
			if l.Vectors, err = s.vectors.nearest(t, bases, q.Model, q.Vector, q.Limit); err != nil {
				return err
			}
			var stale int
			if err := t.row(`SELECT count(*) FROM kb_documents WHERE base_num IN (`+marks(len(bases))+`) AND status = 'completed' AND model <> ?`,
				append(arguments(bases), q.Model), &stale); err != nil {
				return err
			}
			l.Stale = stale > 0
		}
		l.Keywords, err = t.keywords(bases, q.Terms, q.Limit)
		return err
	})
	return l, err
}

// keywords ranks chunks by BM25 over the chunks of the bases together. A term that the query has twice counts twice.
func (t *transaction) keywords(bases []int64, terms []string, limit int) (ids []int64, err error) {
	if len(terms) == 0 {
		return nil, nil
	}
	var chunks, length int64
	if err := t.row(`SELECT COALESCE(sum(chunks), 0), COALESCE(sum(terms), 0) FROM kb_bases WHERE num IN (`+marks(len(bases))+`)`,
		arguments(bases), &chunks, &length); err != nil || chunks == 0 {
		return nil, err
	}
	times := map[string]int{}
	var distinct []string
	for _, term := range terms {
		if times[term]++; times[term] == 1 {
			distinct = append(distinct, term)
		}
	}
	in := `WHERE base_num IN (` + marks(len(bases)) + `) AND term IN (` + marks(len(distinct)) + `)`
	args := append(arguments(bases), arguments(distinct)...)
	weights := map[string]float64{}
	if err := t.rows(`SELECT term, count(*) FROM kb_postings `+in+` GROUP BY term`, args, func(scan func(...any) error) error {
		var term string
		var n int64
		err := scan(&term, &n)
		weights[term] = float64(times[term]) * math.Log(1+(float64(chunks)-float64(n)+0.5)/(float64(n)+0.5))
		return err
	}); err != nil || len(weights) == 0 {
		return nil, err
	}
	var weight strings.Builder
	var scored []any
	for _, term := range distinct {
		if w, ok := weights[term]; ok {
			weight.WriteString(" WHEN term = ? THEN CAST(? AS double precision)")
			scored = append(scored, term, w)
		}
	}
	average := float64(length) / float64(chunks)
	scored = append(scored, k1+1, k1*(1-b), k1*b/average)
	err = t.rows(`SELECT chunk_id, sum((CASE`+weight.String()+` END) * times * CAST(? AS double precision)
		/ (times + CAST(? AS double precision) + CAST(? AS double precision) * length)) AS score
		FROM kb_postings `+in+` GROUP BY chunk_id ORDER BY score DESC, chunk_id LIMIT ?`,
		append(append(scored, args...), limit), func(scan func(...any) error) error {
			var id int64
			var score float64
			err := scan(&id, &score)
			ids = append(ids, id)
			return err
		})
	return ids, err
}

// Passage is a chunk with the document that it is of.
type Passage struct {
	Chunk
	Index                    int
	Document, Base, FileName string
}

// Passages returns chunks by their ids; those that were deleted meanwhile are left out.
func (s *Store) Passages(ctx context.Context, user ids.UserID, list []int64) (found map[int64]Passage, err error) {
	found = map[int64]Passage{}
	if len(list) == 0 {
		return found, nil
	}
	err = s.read(ctx, func(t *transaction) error {
		return t.rows(`SELECT c.id, d.id, b.id, d.file_name, c.content, c.page, c.headings, c.repeated FROM kb_chunks c
			JOIN kb_documents d ON d.num = c.document_num JOIN kb_bases b ON b.num = d.base_num
			WHERE d.user_id = ? AND c.id IN (`+marks(len(list))+`)`, append([]any{string(user)}, arguments(list)...),
			func(scan func(...any) error) error {
				var id int64
				var p Passage
				var err error
				p.Chunk, err = scanChunk(scan, &id, &p.Document, &p.Base, &p.FileName)
				p.Index = int(id & (MaxChunks - 1))
				found[id] = p
				return err
			})
	})
	return found, err
}
