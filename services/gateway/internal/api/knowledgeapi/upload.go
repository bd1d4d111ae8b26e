package knowledgeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

const (
	// piece is how many bytes of a file are passed on at once.
	piece = 128 << 10
	// maxFields is how many bytes of a form may come before its file.
	maxFields = 64 << 10
	// drained is how much of a body that was refused is still read: a client that is still writing would not see the answer.
	drained = 32 << 20
)

// uploadDocument passes the form's file on as it comes.
func (a *API) uploadDocument(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	process := false
	if raw := r.URL.Query().Get("auto_process"); raw != "" {
		var err error
		if process, err = strconv.ParseBool(raw); err != nil {
			return &edge.BadRequest{Message: fmt.Sprintf("auto_process is %q, must be true or false", raw)}
		}
	}
	d, err := a.upload(r, user, process)
	if err != nil {
		_, _ = io.CopyN(io.Discard, r.Body, drained)
		return err
	}
	edge.JSON(w, http.StatusCreated, map[string]string{"document_id": d.GetId(), "status": d.GetStatus(), "file_name": d.GetFileName()})
	return nil
}

func (a *API) upload(r *http.Request, user ids.UserID, process bool) (*knowledgev1.Document, error) {
	ctx, cancel := context.WithCancel(auth.OnBehalf(r.Context(), user))
	defer cancel() // an upload that breaks off leaves nothing behind
	file, err := fileOf(r)
	if err != nil {
		return nil, err
	}
	s, err := a.knowledge.UploadDocument(ctx)
	if err != nil {
		return nil, err
	}
	err = s.Send(&knowledgev1.UploadDocumentRequest{Part: &knowledgev1.UploadDocumentRequest_Description_{
		Description: &knowledgev1.UploadDocumentRequest_Description{KnowledgeBaseId: r.PathValue("id"), FileName: file.FileName(), AutoProcess: process},
	}})
	buf := make([]byte, piece)
	for err == nil {
		var n int
		n, err = io.ReadFull(file, buf)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, edge.BodyError(err)
		}
		if n > 0 {
			if sent := s.Send(&knowledgev1.UploadDocumentRequest{Part: &knowledgev1.UploadDocumentRequest_Data{Data: buf[:n]}}); sent != nil {
				err = sent
			}
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		// Either a last piece that is short, or a body that broke off: then the form has no end.
		if _, end := file.Read(buf[:1]); !errors.Is(end, io.EOF) {
			return nil, &edge.BadRequest{Message: "the body did not arrive whole"}
		}
	}
	// The service answers both when the file has ended and when it takes no more of it.
	resp, err := s.CloseAndRecv()
	if err != nil {
		return nil, err
	}
	return resp.GetDocument(), nil
}

// fileOf returns the form's part "file". What comes before it is left out, what comes behind it is not read.
func fileOf(r *http.Request) (*multipart.Part, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, &edge.BadRequest{Message: "the document must come as a form, Content-Type: multipart/form-data, in its field file"}
	}
	form, err := r.MultipartReader()
	if err != nil {
		return nil, &edge.BadRequest{Message: "the form cannot be read: " + err.Error()}
	}
	for room := int64(maxFields); ; {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, &edge.BadRequest{Message: "the form has no field file"}
		}
		if err != nil {
			var slow *edge.TooSlow
			if errors.As(err, &slow) {
				return nil, slow
			}
			return nil, &edge.BadRequest{Message: "the form cannot be read"}
		}
		if part.FormName() == "file" {
			return part, nil
		}
		n, err := io.Copy(io.Discard, io.LimitReader(part, room+1))
		if err != nil {
			return nil, edge.BodyError(err)
		}
		if room -= n; room < 0 {
			return nil, &edge.TooLarge{Limit: maxFields}
		}
	}
}

// downloadDocument answers with the bytes that were uploaded. They are the user's own, and may say anything: a browser must not run
// them in this origin.
func (a *API) downloadDocument(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	ctx, cancel := context.WithCancel(auth.OnBehalf(r.Context(), user))
	defer cancel()
	s, err := a.knowledge.DownloadDocument(ctx, &knowledgev1.DownloadDocumentRequest{
		KnowledgeBaseId: r.PathValue("id"), Id: r.PathValue("document"),
	})
	if err != nil {
		return err
	}
	first, err := s.Recv()
	if err != nil {
		return err
	}
	d := first.GetDocument()
	h := w.Header()
	h.Set("Content-Type", d.GetFileType())
	h.Set("Content-Length", strconv.FormatInt(d.GetFileSize(), 10))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": d.GetFileName()}))
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	w.WriteHeader(http.StatusOK)
	for r.Method != http.MethodHead {
		part, err := s.Recv()
		if err != nil {
			break // where it broke off, the length is wrong, and the connection is closed
		}
		if _, err := w.Write(part.GetData()); err != nil {
			break
		}
	}
	return nil
}
