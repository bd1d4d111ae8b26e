package knowledgeapi

import (
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// documentView is a document in JSON.
type documentView struct {
	ID           string  `json:"id"`
	FileName     string  `json:"fileName"`
	FileType     string  `json:"fileType"`
	FileSize     int64   `json:"fileSize"`
	Status       string  `json:"status"`
	ChunkCount   int32   `json:"chunkCount"`
	ErrorMessage *string `json:"errorMessage"`
	Progress     float64 `json:"progress"`
	CreatedAt    string  `json:"createdAt"`
	UpdatedAt    string  `json:"updatedAt"`
}

func viewDocument(d *knowledgev1.Document) documentView {
	return documentView{
		d.GetId(), d.GetFileName(), d.GetFileType(), d.GetFileSize(), d.GetStatus(), d.GetChunkCount(), d.ErrorMessage, d.GetProgress(),
		moment(d.GetCreatedAt()), moment(d.GetUpdatedAt()),
	}
}

func (a *API) listDocuments(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	limit, cursor, err := pageOf(r)
	if err != nil {
		return err
	}
	resp, err := a.knowledge.ListDocuments(auth.OnBehalf(r.Context(), user), &knowledgev1.ListDocumentsRequest{
		KnowledgeBaseId: r.PathValue("id"), Limit: limit, Cursor: cursor,
	})
	if err != nil {
		return err
	}
	documents := make([]documentView, len(resp.GetDocuments()))
	for i, d := range resp.GetDocuments() {
		documents[i] = viewDocument(d)
	}
	edge.JSON(w, http.StatusOK, list("documents", documents, resp.GetTotal(), resp.GetNextCursor()))
	return nil
}

func (a *API) getDocument(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	resp, err := a.knowledge.GetDocument(auth.OnBehalf(r.Context(), user), &knowledgev1.GetDocumentRequest{
		KnowledgeBaseId: r.PathValue("id"), Id: r.PathValue("document"),
	})
	if err != nil {
		return err
	}
	edge.JSON(w, http.StatusOK, viewDocument(resp.GetDocument()))
	return nil
}

func (a *API) processDocument(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	resp, err := a.knowledge.ProcessDocument(auth.OnBehalf(r.Context(), user), &knowledgev1.ProcessDocumentRequest{
		KnowledgeBaseId: r.PathValue("id"), Id: r.PathValue("document"),
	})
	if err != nil {
		return err
	}
	edge.JSON(w, http.StatusAccepted, map[string]string{"document_id": resp.GetDocument().GetId(), "status": "processing"})
	return nil
}

func (a *API) deleteDocument(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	_, err := a.knowledge.DeleteDocument(auth.OnBehalf(r.Context(), user), &knowledgev1.DeleteDocumentRequest{
		KnowledgeBaseId: r.PathValue("id"), Id: r.PathValue("document"),
	})
	if err != nil {
		return err
	}
	edge.JSON(w, http.StatusOK, map[string]string{"message": "Document deleted"})
	return nil
}

// chunkView is a chunk in JSON.
type chunkView struct {
	ChunkIndex int32        `json:"chunk_index"`
	Content    string       `json:"content"`
	Metadata   metadataView `json:"metadata"`
}

type metadataView struct {
	Source   string   `json:"source"`
	Page     *int32   `json:"page"` // null where there are no pages
	Headings []string `json:"headings"`
}

func viewMetadata(c *knowledgev1.Chunk) metadataView {
	m := metadataView{Source: c.GetSource(), Headings: append([]string{}, c.GetHeadings()...)}
	if page := c.GetPage(); page > 0 {
		m.Page = &page
	}
	return m
}

func (a *API) listChunks(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	limit, cursor, err := pageOf(r)
	if err != nil {
		return err
	}
	resp, err := a.knowledge.ListChunks(auth.OnBehalf(r.Context(), user), &knowledgev1.ListChunksRequest{
		KnowledgeBaseId: r.PathValue("id"), Id: r.PathValue("document"), Limit: limit, Cursor: cursor,
	})
	if err != nil {
		return err
	}
	chunks := make([]chunkView, len(resp.GetChunks()))
	for i, c := range resp.GetChunks() {
		chunks[i] = chunkView{c.GetChunkIndex(), c.GetContent(), viewMetadata(c)}
	}
	edge.JSON(w, http.StatusOK, list("chunks", chunks, resp.GetTotal(), resp.GetNextCursor()))
	return nil
}
