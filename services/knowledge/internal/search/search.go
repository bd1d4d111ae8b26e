package search

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/embed"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/terms"
)

// Index is where passages are found.
type Index interface {
	Find(ctx context.Context, q store.Query) (store.Lists, error)
	Passages(ctx context.Context, user ids.UserID, list []int64) (map[int64]store.Passage, error)
	CheckDimensions(ctx context.Context, model string, dimensions int) error
}

// Options of a Searcher.
type Options struct {
	Index    Index          // required
	Embedder embed.Embedder // required
	// Patience is how long a query waits for its vector before keywords alone are searched; 0 means 5 s.
	Patience time.Duration
	Logger   *slog.Logger // nil discards
}

// Searcher is safe for concurrent use.
type Searcher struct{ o Options }

// New checks the options and returns a Searcher.
func New(o Options) (*Searcher, error) {
	if err := options.Require("search", map[string]bool{"Index": o.Index == nil, "Embedder": o.Embedder == nil}); err != nil {
		return nil, err
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	o.Logger = obs.OrDiscard(o.Logger)
	return &Searcher{o}, nil
}

// Query is what is looked for.
type Query struct {
	User  ids.UserID
	Text  string
	Bases []string // none: all of the user's
	TopK  int
	// Weights of the two lists.
	VectorWeight, KeywordWeight float64
	// VectorsOnly leaves out keywords.
	VectorsOnly bool
}

// Hit is a passage with its place in both lists, from 1; 0 where a list did not have it.
type Hit struct {
	store.Passage
	Score                   float64
	VectorRank, KeywordRank int
}

// Warnings of a search.
const (
	KeywordsOnly = "the embeddings are not available: keywords alone were searched"
	Stale        = "some documents are being embedded anew, since the embedding model has changed: only their keywords were searched"
)

// widen is how many times as many candidates each list has as are shown.
const widen = 3

// Search returns the best passages, best first, and what it could not do.
func (s *Searcher) Search(ctx context.Context, q Query) (hits []Hit, warnings []string, err error) {
	find := store.Query{User: q.User, Bases: q.Bases, Limit: widen * q.TopK, Model: s.o.Embedder.Model()}
	if !q.VectorsOnly {
		find.Terms = terms.Of(q.Text)
	}
	vector, err := s.vector(ctx, q.Text)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		s.o.Logger.WarnContext(ctx, "a query has no vector: keywords alone are searched", "error", err)
		warnings = append(warnings, KeywordsOnly)
		find.Terms = terms.Of(q.Text)
	default:
		find.Vector = vector
	}
	lists, err := s.o.Index.Find(ctx, find)
	if err != nil {
		return nil, nil, err
	}
	if lists.Stale {
		warnings = append(warnings, Stale)
	}
	hits, err = s.show(ctx, q, lists)
	return hits, warnings, err
}

// vector returns that of a query.
func (s *Searcher) vector(ctx context.Context, text string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	vectors, err := s.o.Embedder.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 {
		return nil, errors.New("the embedder gave no vector")
	}
	return vectors[0], s.o.Index.CheckDimensions(ctx, s.o.Embedder.Model(), len(vectors[0]))
}

// show fuses the lists, and returns the first with their texts.
func (s *Searcher) show(ctx context.Context, q Query, lists store.Lists) ([]Hit, error) {
	ranked := Fuse(lists.Vectors, lists.Keywords, q.VectorWeight, q.KeywordWeight)
	if len(ranked) > q.TopK {
		ranked = ranked[:q.TopK]
	}
	list := make([]int64, len(ranked))
	for i, r := range ranked {
		list[i] = r.Chunk
	}
	passages, err := s.o.Index.Passages(ctx, q.User, list)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(ranked))
	for _, r := range ranked {
		if p, ok := passages[r.Chunk]; ok { // else it was deleted meanwhile
			hits = append(hits, Hit{p, r.Score, r.Vector, r.Keyword})
		}
	}
	return hits, nil
}

// constant of reciprocal ranks.
const constant = 60

// Ranked is a chunk with its score and its place in both lists.
type Ranked struct {
	Chunk           int64
	Score           float64
	Vector, Keyword int
}

// Fuse joins two lists: each adds its weight / (rank + 60) to a chunk's score. Of equal scores the one that is nearer by vector comes
// first, then the one with the better keywords.
func Fuse(vectors, keywords []int64, vectorWeight, keywordWeight float64) []Ranked {
	found := map[int64]*Ranked{}
	at := func(chunk int64) *Ranked {
		r := found[chunk]
		if r == nil {
			r = &Ranked{Chunk: chunk}
			found[chunk] = r
		}
		return r
	}
	for i, chunk := range vectors {
		r := at(chunk)
		r.Vector = i + 1
		r.Score += vectorWeight / float64(i+1+constant)
	}
	for i, chunk := range keywords {
		r := at(chunk)
		r.Keyword = i + 1
		r.Score += keywordWeight / float64(i+1+constant)
	}
	out := make([]Ranked, 0, len(found))
	for _, r := range found {
		out = append(out, *r)
	}
	last := func(rank int) int {
		if rank == 0 {
			return 1 << 30
		}
		return rank
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(last(a.Vector), last(b.Vector)),
			cmp.Compare(last(a.Keyword), last(b.Keyword)), cmp.Compare(a.Chunk, b.Chunk))
	})
	return out
}
