package grpcapi

import (
	"context"
	"errors"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/search"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
)

// Searcher finds passages (package search).
type Searcher interface {
	Search(ctx context.Context, q search.Query) (hits []search.Hit, warnings []string, err error)
}

// Options of a Server; all are required.
type Options struct {
	Store    *store.Store
	Searcher Searcher
	// Announce tells web clients of a document.
	Announce func(store.Document)
	// Wake says that a document is queued.
	Wake func()
	// MaxFile is the size of the largest document, in bytes.
	MaxFile int64
}

// Server implements KnowledgeService.
type Server struct {
	knowledgev1.UnimplementedKnowledgeServiceServer
	o Options
}

// New checks the options and returns a Server.
func New(o Options) (*Server, error) {
	if err := options.Require("grpcapi", map[string]bool{
		"Store": o.Store == nil, "Searcher": o.Searcher == nil, "Announce": o.Announce == nil, "Wake": o.Wake == nil, "MaxFile": o.MaxFile <= 0,
	}); err != nil {
		return nil, err
	}
	return &Server{o: o}, nil
}

// ServerOptions turn every handler's error into a status, and log faults of the pod.
func ServerOptions(log *slog.Logger) []grpc.ServerOption { return rpc.Errors(log, public, errs.Cause) }

// public returns what a caller may know of an error.
func public(err error) *status.Status {
	var reason *errs.Error
	var invalid *ids.InvalidError
	switch {
	case errors.As(err, &reason):
		return reason.GRPCStatus()
	case errors.As(err, &invalid):
		return status.New(codes.InvalidArgument, invalid.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err)
	}
	if st, ok := status.FromError(err); ok {
		return st
	}
	return status.New(codes.Internal, "internal error")
}

func baseView(b store.Base) *knowledgev1.KnowledgeBase {
	return &knowledgev1.KnowledgeBase{
		Id: b.ID, Name: b.Name, Description: b.Description, Status: "active", DocumentCount: int32(b.Documents),
		CreatedAt: timestamppb.New(b.Created), UpdatedAt: timestamppb.New(b.Updated),
	}
}

func documentView(d store.Document) *knowledgev1.Document {
	view := &knowledgev1.Document{
		Id: d.ID, KnowledgeBaseId: d.Base, FileName: d.FileName, FileType: d.FileType, FileSize: d.Size, Status: string(d.Status),
		ChunkCount: int32(d.Chunks), Progress: d.Progress, CreatedAt: timestamppb.New(d.Created), UpdatedAt: timestamppb.New(d.Updated),
	}
	if d.Error != "" {
		view.ErrorMessage = &d.Error
	}
	return view
}

func chunkView(index int, fileName string, c store.Chunk) *knowledgev1.Chunk {
	return &knowledgev1.Chunk{ChunkIndex: int32(index), Content: c.Content, Source: fileName, Page: int32(c.Page), Headings: c.Headings}
}
