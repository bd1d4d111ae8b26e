package knowledgeapi

import (
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// handler serves a request of a user.
type handler = func(http.ResponseWriter, *http.Request, ids.UserID) error

// baseView is a knowledge base in JSON.
type baseView struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Description   string `json:"description"`
	Status        string `json:"status"`
	DocumentCount int32  `json:"documentCount"`
	CreatedAt     string `json:"createdAt"`
	UpdatedAt     string `json:"updatedAt"`
}

func viewBase(b *knowledgev1.KnowledgeBase) baseView {
	return baseView{
		b.GetId(), b.GetName(), b.GetDescription(), b.GetStatus(), b.GetDocumentCount(), moment(b.GetCreatedAt()), moment(b.GetUpdatedAt()),
	}
}

func moment(t *timestamppb.Timestamp) string { return t.AsTime().UTC().Format(time.RFC3339Nano) }

func (a *API) createBase(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	var body struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	if err := edge.Decode(r, &body); err != nil {
		return err
	}
	resp, err := a.knowledge.CreateBase(auth.OnBehalf(r.Context(), user), &knowledgev1.CreateBaseRequest{Name: body.Name, Description: body.Description})
	if err != nil {
		return err
	}
	edge.JSON(w, http.StatusCreated, viewBase(resp.GetBase()))
	return nil
}

func (a *API) getBase(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	resp, err := a.knowledge.GetBase(auth.OnBehalf(r.Context(), user), &knowledgev1.GetBaseRequest{Id: r.PathValue("id")})
	if err != nil {
		return err
	}
	edge.JSON(w, http.StatusOK, viewBase(resp.GetBase()))
	return nil
}

// pageOf reads limit and cursor.
func pageOf(r *http.Request) (limit int32, cursor string, err error) {
	q := r.URL.Query()
	if raw := q.Get("limit"); raw != "" {
		n, err := strconv.ParseInt(raw, 10, 32)
		if err != nil || n < 1 {
			return 0, "", &edge.BadRequest{Message: "limit must be from 1 to 200"}
		}
		limit = int32(n)
	}
	return limit, q.Get("cursor"), nil
}

// list is a page of a list; next_cursor is there where there is more.
func list(name string, items any, total int32, next string) map[string]any {
	page := map[string]any{name: items, "total": total}
	if next != "" {
		page["next_cursor"] = next
	}
	return page
}

func (a *API) listBases(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	limit, cursor, err := pageOf(r)
	if err != nil {
		return err
	}
	resp, err := a.knowledge.ListBases(auth.OnBehalf(r.Context(), user), &knowledgev1.ListBasesRequest{Limit: limit, Cursor: cursor})
	if err != nil {
		return err
	}
	bases := make([]baseView, len(resp.GetBases()))
	for i, b := range resp.GetBases() {
		bases[i] = viewBase(b)
	}
	edge.JSON(w, http.StatusOK, list("knowledgeBases", bases, resp.GetTotal(), resp.GetNextCursor()))
	return nil
}

func (a *API) updateBase(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	var body struct {
		Name        *string `json:"name"`
		Description *string `json:"description"`
	}
	if err := edge.Decode(r, &body); err != nil {
		return err
	}
	resp, err := a.knowledge.UpdateBase(auth.OnBehalf(r.Context(), user), &knowledgev1.UpdateBaseRequest{
		Id: r.PathValue("id"), Name: body.Name, Description: body.Description,
	})
	if err != nil {
		return err
	}
	edge.JSON(w, http.StatusOK, viewBase(resp.GetBase()))
	return nil
}

func (a *API) deleteBase(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	if _, err := a.knowledge.DeleteBase(auth.OnBehalf(r.Context(), user), &knowledgev1.DeleteBaseRequest{Id: r.PathValue("id")}); err != nil {
		return err
	}
	edge.JSON(w, http.StatusOK, map[string]string{"message": "Knowledge base deleted"})
	return nil
}
