package grpcapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
)

// UploadDocument implements KnowledgeService.
func (s *Server) UploadDocument(stream grpc.ClientStreamingServer[knowledgev1.UploadDocumentRequest, knowledgev1.UploadDocumentResponse]) error {
	ctx := stream.Context()
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return err
	}
	head, err := stream.Recv()
	if err != nil {
		return err
	}
	about := head.GetDescription()
	if about == nil {
		return invalid("the first message must be the description")
	}
	if err := checkFileName(about.GetFileName()); err != nil {
		return err
	}
	kind, ok := parse.Type(about.GetFileName())
	if !ok {
		return errs.New(errs.FileTypeRefused, "%q is of a type that is not read: it must end with one of %s", about.GetFileName(), strings.Join(parse.Extensions(), ", "))
	}
	upload, err := s.o.Store.BeginUpload(ctx, user, about.GetKnowledgeBaseId(), about.GetFileName(), kind)
	if err != nil {
		return err
	}
	d, err := s.receive(ctx, stream, upload, about.GetAutoProcess())
	if err != nil {
		left, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = upload.Abandon(left) // what stays is swept later
		return err
	}
	s.o.Announce(d)
	if about.GetAutoProcess() {
		s.o.Wake()
	}
	return stream.SendAndClose(&knowledgev1.UploadDocumentResponse{Document: documentView(d)})
}

func (s *Server) receive(
	ctx context.Context, stream grpc.ClientStreamingServer[knowledgev1.UploadDocumentRequest, knowledgev1.UploadDocumentResponse],
	upload *store.Upload, process bool,
) (store.Document, error) {
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return upload.Finish(ctx, process)
		}
		if err != nil {
			return store.Document{}, err
		}
		if upload.Size()+int64(len(part.GetData())) > s.o.MaxFile {
			return store.Document{}, errs.New(errs.FileTooLarge, "the file has more than %d bytes, which is the limit", s.o.MaxFile)
		}
		if err := upload.Write(ctx, part.GetData()); err != nil {
			return store.Document{}, err
		}
	}
}

// GetDocument implements KnowledgeService.
func (s *Server) GetDocument(ctx context.Context, req *knowledgev1.GetDocumentRequest) (*knowledgev1.GetDocumentResponse, error) {
	user, err := userAndBase(ctx, req.GetKnowledgeBaseId())
	if err != nil {
		return nil, err
	}
	d, err := s.o.Store.Document(ctx, user, req.GetKnowledgeBaseId(), req.GetId())
	if err != nil {
		return nil, err
	}
	return &knowledgev1.GetDocumentResponse{Document: documentView(d)}, nil
}

// userAndBase returns the user of a request, which must name a base.
func userAndBase(ctx context.Context, base string) (ids.UserID, error) {
	user, err := auth.BehalfOf(ctx)
	if err == nil && base == "" {
		err = invalid("knowledge_base_id is required")
	}
	return user, err
}

// ListDocuments implements KnowledgeService.
func (s *Server) ListDocuments(ctx context.Context, req *knowledgev1.ListDocumentsRequest) (*knowledgev1.ListDocumentsResponse, error) {
	user, err := userAndBase(ctx, req.GetKnowledgeBaseId())
	if err != nil {
		return nil, err
	}
	limit, from, err := page(req.GetLimit(), req.GetCursor())
	if err != nil {
		return nil, err
	}
	list, total, after, err := s.o.Store.Documents(ctx, user, req.GetKnowledgeBaseId(), limit, from)
	if err != nil {
		return nil, err
	}
	resp := &knowledgev1.ListDocumentsResponse{Total: int32(total), NextCursor: next(after)}
	for _, d := range list {
		resp.Documents = append(resp.Documents, documentView(d))
	}
	return resp, nil
}

// DeleteDocument implements KnowledgeService.
func (s *Server) DeleteDocument(ctx context.Context, req *knowledgev1.DeleteDocumentRequest) (*knowledgev1.DeleteDocumentResponse, error) {
	user, err := userAndBase(ctx, req.GetKnowledgeBaseId())
	if err != nil {
		return nil, err
	}
	if err := s.o.Store.DeleteDocument(ctx, user, req.GetKnowledgeBaseId(), req.GetId()); err != nil {
		return nil, err
	}
	return &knowledgev1.DeleteDocumentResponse{}, nil
}

// ProcessDocument implements KnowledgeService.
func (s *Server) ProcessDocument(ctx context.Context, req *knowledgev1.ProcessDocumentRequest) (*knowledgev1.ProcessDocumentResponse, error) {
	user, err := userAndBase(ctx, req.GetKnowledgeBaseId())
	if err != nil {
		return nil, err
	}
	d, err := s.o.Store.Process(ctx, user, req.GetKnowledgeBaseId(), req.GetId())
	if err != nil {
		return nil, err
	}
	s.o.Announce(d)
	s.o.Wake()
	return &knowledgev1.ProcessDocumentResponse{Document: documentView(d)}, nil
}

// ListChunks implements KnowledgeService.
func (s *Server) ListChunks(ctx context.Context, req *knowledgev1.ListChunksRequest) (*knowledgev1.ListChunksResponse, error) {
	user, err := userAndBase(ctx, req.GetKnowledgeBaseId())
	if err != nil {
		return nil, err
	}
	limit, from, err := page(req.GetLimit(), req.GetCursor())
	if err != nil {
		return nil, err
	}
	at := int(min(from, store.MaxChunks-1))
	list, d, err := s.o.Store.Chunks(ctx, user, req.GetKnowledgeBaseId(), req.GetId(), limit, at)
	if err != nil {
		return nil, err
	}
	if d.Status != store.Completed {
		return nil, errs.New(errs.DocumentBusy, "the document is %s: it has chunks once it is completed", d.Status)
	}
	resp := &knowledgev1.ListChunksResponse{Total: int32(d.Chunks)}
	for i, c := range list {
		resp.Chunks = append(resp.Chunks, chunkView(at+i, d.FileName, c))
	}
	if at+len(list) < d.Chunks {
		resp.NextCursor = next(int64(at + len(list)))
	}
	return resp, nil
}

// DownloadDocument implements KnowledgeService.
func (s *Server) DownloadDocument(req *knowledgev1.DownloadDocumentRequest, stream grpc.ServerStreamingServer[knowledgev1.DownloadDocumentResponse]) error {
	ctx := stream.Context()
	user, err := userAndBase(ctx, req.GetKnowledgeBaseId())
	if err != nil {
		return err
	}
	d, err := s.o.Store.Document(ctx, user, req.GetKnowledgeBaseId(), req.GetId())
	if err != nil {
		return err
	}
	if err := stream.Send(&knowledgev1.DownloadDocumentResponse{Part: &knowledgev1.DownloadDocumentResponse_Document{Document: documentView(d)}}); err != nil {
		return err
	}
	return s.o.Store.CopyFile(ctx, d, sender(func(data []byte) error {
		return stream.Send(&knowledgev1.DownloadDocumentResponse{Part: &knowledgev1.DownloadDocumentResponse_Data{Data: data}})
	}))
}

type sender func([]byte) error

func (s sender) Write(data []byte) (int, error) { return len(data), s(data) }

// ReadDocument implements KnowledgeService.
func (s *Server) ReadDocument(ctx context.Context, req *knowledgev1.ReadDocumentRequest) (*knowledgev1.ReadDocumentResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err := first(err, checkIDs("knowledge_base_ids", req.GetKnowledgeBaseIds())); err != nil {
		return nil, err
	}
	most := int(req.GetMaxLength())
	if most <= 0 {
		most = defaultRead
	}
	most = min(most, maxRead)
	d, err := s.o.Store.Document(ctx, user, "", req.GetId())
	if err != nil {
		return nil, err
	}
	if within := req.GetKnowledgeBaseIds(); len(within) > 0 && !slices.Contains(within, d.Base) {
		return nil, errs.New(errs.DocumentNotFound, "there is no document %s", req.GetId())
	}
	if d.Status != store.Completed {
		return nil, errs.New(errs.DocumentBusy, "the document is %s: it can be read once it is completed", d.Status)
	}
	list, _, err := s.o.Store.Chunks(ctx, user, d.Base, d.ID, most/100+10, 0)
	if err != nil {
		return nil, err
	}
	whole := joined(list)
	resp := &knowledgev1.ReadDocumentResponse{Document: documentView(d), Text: whole, Cut: len(list) < d.Chunks}
	if runes := []rune(whole); len(runes) > most {
		resp.Text, resp.Cut = string(runes[:most]), true
	}
	return resp, nil
}

// joined puts chunks together again, without what they repeat.
func joined(list []store.Chunk) string {
	var b strings.Builder
	page := 0
	for i, c := range list {
		content := c.Content
		switch {
		case c.Page != page:
			page = c.Page
			if i > 0 {
				b.WriteString("\n\n")
			}
			if page > 0 {
				fmt.Fprintf(&b, "[page %d]\n", page)
			}
		case i > 0 && c.Repeated == 0:
			b.WriteString("\n\n")
		case i > 0:
			b.WriteString(" ")
		}
		if c.Repeated > 0 && i > 0 {
			if runes := []rune(content); c.Repeated <= len(runes) {
				content = strings.TrimLeft(string(runes[c.Repeated:]), " \n")
			}
		}
		b.WriteString(content)
	}
	return b.String()
}
