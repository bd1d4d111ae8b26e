package knowledgeapi

import (
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// searchBody has the arguments of the tool search_knowledge_base, and a list of bases beside the one.
type searchBody struct {
	Query         string   `json:"query"`
	Base          string   `json:"knowledge_base_id"`
	Bases         []string `json:"knowledge_base_ids"`
	TopK          *int32   `json:"top_k"`
	VectorWeight  *float64 `json:"vector_weight"`
	KeywordWeight *float64 `json:"keyword_weight"`
	UseRerank     *bool    `json:"use_rerank"`
}

// hitView is a hit in JSON.
type hitView struct {
	ChunkID         string       `json:"chunk_id"`
	DocumentID      string       `json:"document_id"`
	KnowledgeBaseID string       `json:"knowledge_base_id"`
	FileName        string       `json:"file_name"`
	ChunkIndex      int32        `json:"chunk_index"`
	Content         string       `json:"content"`
	Score           float64      `json:"score"`
	VectorRank      *int32       `json:"vector_rank"`
	KeywordRank     *int32       `json:"keyword_rank"`
	Metadata        metadataView `json:"metadata"`
}

func (a *API) searchAll(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	return a.search(w, r, user, "")
}

func (a *API) searchOne(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	return a.search(w, r, user, r.PathValue("id"))
}

// search looks into one base; where base is "", into those of the body.
func (a *API) search(w http.ResponseWriter, r *http.Request, user ids.UserID, base string) error {
	var body searchBody
	if err := edge.Decode(r, &body); err != nil {
		return err
	}
	req := &knowledgev1.SearchRequest{
		Query: body.Query, KnowledgeBaseIds: body.Bases, VectorWeight: body.VectorWeight, KeywordWeight: body.KeywordWeight, UseRerank: body.UseRerank,
	}
	switch {
	case base != "":
		req.KnowledgeBaseIds = []string{base}
	case body.Base != "":
		req.KnowledgeBaseIds = append(req.KnowledgeBaseIds, body.Base)
	}
	if body.TopK != nil {
		if req.TopK = *body.TopK; req.TopK < 1 {
			return &edge.BadRequest{Message: "top_k must be from 1 to 50"}
		}
	}
	resp, err := a.knowledge.Search(auth.OnBehalf(r.Context(), user), req)
	if err != nil {
		return err
	}
	hits := make([]hitView, len(resp.GetHits()))
	for i, h := range resp.GetHits() {
		c := h.GetChunk()
		hits[i] = hitView{
			h.GetChunkId(), h.GetDocumentId(), h.GetKnowledgeBaseId(), h.GetFileName(), c.GetChunkIndex(), c.GetContent(), h.GetScore(),
			rank(h.GetVectorRank()), rank(h.GetKeywordRank()), viewMetadata(c),
		}
	}
	answer := map[string]any{"hits": hits, "total": len(hits)}
	if len(resp.GetWarnings()) > 0 {
		answer["warnings"] = resp.GetWarnings()
	}
	edge.JSON(w, http.StatusOK, answer)
	return nil
}

// rank is null where a list did not have a hit.
func rank(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}
