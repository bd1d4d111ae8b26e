package grpcapi

import (
	"context"
	"fmt"
	"math"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/search"
)

// Search implements KnowledgeService.
func (s *Server) Search(ctx context.Context, req *knowledgev1.SearchRequest) (*knowledgev1.SearchResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err := first(err, text("query", req.GetQuery(), 1, maxQuery), checkIDs("knowledge_base_ids", req.GetKnowledgeBaseIds())); err != nil {
		return nil, err
	}
	q := search.Query{
		User: user, Text: req.GetQuery(), Bases: req.GetKnowledgeBaseIds(), TopK: int(req.GetTopK()),
		VectorWeight: 0.6, KeywordWeight: 0.4, VectorsOnly: req.UseRerank != nil && !req.GetUseRerank(),
	}
	if q.TopK == 0 {
		q.TopK = defaultTopK
	}
	if q.TopK < 0 || q.TopK > maxTopK {
		return nil, invalid("top_k must be from 1 to %d", maxTopK)
	}
	if err := first(weight("vector_weight", req.VectorWeight, &q.VectorWeight), weight("keyword_weight", req.KeywordWeight, &q.KeywordWeight)); err != nil {
		return nil, err
	}
	hits, warnings, err := s.o.Searcher.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &knowledgev1.SearchResponse{Warnings: warnings}
	for _, h := range hits {
		resp.Hits = append(resp.Hits, &knowledgev1.Hit{
			ChunkId: fmt.Sprintf("%s-%d", h.Document, h.Index), DocumentId: h.Document, KnowledgeBaseId: h.Base, FileName: h.FileName,
			Chunk: chunkView(h.Index, h.FileName, h.Chunk), Score: h.Score, VectorRank: int32(h.VectorRank), KeywordRank: int32(h.KeywordRank),
		})
	}
	return resp, nil
}

func weight(field string, given *float64, into *float64) error {
	if given == nil {
		return nil
	}
	if math.IsNaN(*given) || *given < 0 || *given > 1 {
		return invalid("%s must be from 0 to 1", field)
	}
	*into = *given
	return nil
}
