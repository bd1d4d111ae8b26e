package agentapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// getFile answers GET and HEAD with a file's bytes. They are the user's own, and may say anything: a browser must not run
// them in this origin.
func (a *API) getFile(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	ctx, cancel := context.WithCancel(auth.OnBehalf(r.Context(), user))
	defer cancel()
	s, err := a.files.GetFile(ctx, &agentv1.GetFileRequest{Path: r.PathValue("path")})
	if err != nil {
		return err
	}
	first, err := s.Recv()
	if err != nil {
		return err
	}
	file := first.GetFile()
	etag := quoted(file.GetEtag())
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache")
	if etag != "" && matches(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	contentType := file.GetContentType()
	if _, _, err := mime.ParseMediaType(contentType); err != nil {
		contentType = "application/octet-stream"
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.FormatInt(int64(file.GetSize()), 10))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(file.GetPath())}))
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	if at := file.GetUpdatedAt(); at.IsValid() {
		h.Set("Last-Modified", at.AsTime().UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		a.copyFile(w, s)
	}
	return nil
}

// copyFile sends the bytes that follow a file's description. If they break off, the connection is closed, since the length is
// then wrong.
func (a *API) copyFile(w http.ResponseWriter, s grpc.ServerStreamingClient[agentv1.GetFileResponse]) {
	out := newWriter(w)
	for {
		part, err := s.Recv()
		if err != nil {
			return
		}
		if _, err := out.Write(part.GetData()); err != nil {
			return
		}
	}
}

// quoted makes an ETag of what the workspace says changes with the content.
func quoted(etag string) string {
	if etag == "" || strings.HasSuffix(etag, `"`) {
		return etag
	}
	return strconv.Quote(etag)
}

// matches reads If-None-Match (RFC 9110, section 13.1.2).
func matches(header, etag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == "*" || one == etag {
			return true
		}
	}
	return false
}

// putFile creates or replaces a file with the request's body, which is no JSON. How large it may be is the workspace's to
// say.
func (a *API) putFile(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	ctx, cancel := context.WithCancel(auth.OnBehalf(r.Context(), user))
	defer cancel() // an upload that breaks off leaves nothing behind
	s, err := a.files.PutFile(ctx)
	if err != nil {
		return err
	}
	file := &agentv1.File{Path: r.PathValue("path"), ContentType: r.Header.Get("Content-Type")}
	err = s.Send(&agentv1.PutFileRequest{Part: &agentv1.PutFileRequest_File{File: file}})
	buf := make([]byte, piece)
	for err == nil {
		var n int
		n, err = r.Body.Read(buf)
		if err != nil && !errors.Is(err, io.EOF) {
			return edge.BodyError(err)
		}
		if n > 0 {
			if sent := s.Send(&agentv1.PutFileRequest{Part: &agentv1.PutFileRequest_Data{Data: buf[:n]}}); sent != nil {
				err = sent
			}
		}
	}
	// The workspace answers both when the body has ended and when it takes no more of it.
	resp, err := s.CloseAndRecv()
	if err != nil {
		return err
	}
	body, err := restJSON.Marshal(resp.GetFile())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client may be gone
	return nil
}

func (a *API) deleteFile(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	resp, err := a.files.DeleteFile(auth.OnBehalf(r.Context(), user), &agentv1.DeleteFileRequest{Path: r.PathValue("path")})
	if err != nil {
		return err
	}
	edge.JSON(w, http.StatusOK, map[string]bool{"success": resp.GetSuccess()})
	return nil
}
