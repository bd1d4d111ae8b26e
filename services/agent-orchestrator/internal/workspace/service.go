package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// part is how many bytes of a file one message has.
const part = 64 << 10

// Service is WorkspaceService: the files of the user on whose behalf a request is made.
type Service struct {
	agentv1.UnimplementedWorkspaceServiceServer
	store   *Store
	uploads *userSlots
}

// uploads bounds how many files of one user are received at one time, because each file is in memory until it is complete.
// The user's other uploads wait and send nothing.
const uploads = 4

// ServiceOptions are what a Service works with.
type ServiceOptions struct {
	// Store has the files; required.
	Store *Store
}

// NewService checks the options and returns a Service.
func NewService(o ServiceOptions) (*Service, error) {
	if err := options.Require("workspace", map[string]bool{"Store": o.Store == nil}); err != nil {
		return nil, err
	}
	return &Service{store: o.Store, uploads: newUserSlots(uploads)}, nil
}

// ListFiles implements WorkspaceService.
func (s *Service) ListFiles(ctx context.Context, req *agentv1.ListFilesRequest) (*agentv1.ListFilesResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.store.List(ctx, user, req.GetPrefix(), int(req.GetLimit()), req.GetCursor())
	if err != nil {
		return nil, err
	}
	resp := &agentv1.ListFilesResponse{NextCursor: page.Cursor}
	for _, file := range page.Files {
		resp.Files = append(resp.Files, file.proto())
	}
	return resp, nil
}

// GetFile implements WorkspaceService.
func (s *Service) GetFile(req *agentv1.GetFileRequest, stream grpc.ServerStreamingServer[agentv1.GetFileResponse]) error {
	user, err := behalf(stream.Context())
	if err != nil {
		return err
	}
	file, data, err := s.store.Get(stream.Context(), user, req.GetPath())
	if err != nil {
		return err
	}
	if err := stream.Send(&agentv1.GetFileResponse{Part: &agentv1.GetFileResponse_File{File: file.proto()}}); err != nil {
		return err
	}
	for len(data) > 0 {
		n := min(part, len(data))
		if err := stream.Send(&agentv1.GetFileResponse{Part: &agentv1.GetFileResponse_Data{Data: data[:n]}}); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// PutFile implements WorkspaceService.
func (s *Service) PutFile(stream grpc.ClientStreamingServer[agentv1.PutFileRequest, agentv1.PutFileResponse]) error {
	user, err := behalf(stream.Context())
	if err != nil {
		return err
	}
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if first.GetFile() == nil {
		return errs.New(errs.InvalidArgument, "the first part must say which file it is")
	}
	path := first.GetFile().GetPath()
	if err := CheckPath(path); err != nil {
		return err // before the bytes come
	}
	done, err := s.uploads.take(stream.Context(), user)
	if err != nil {
		return err
	}
	defer done()
	data, err := s.receive(stream, path)
	if err != nil {
		return err
	}
	if err := s.store.Put(stream.Context(), user, path, first.GetFile().GetContentType(), data); err != nil {
		return err
	}
	file, err := s.store.Stat(stream.Context(), user, path)
	if err != nil {
		return err
	}
	return stream.SendAndClose(&agentv1.PutFileResponse{File: file.proto()})
}

// receive collects the bytes of a file, and stops at the first byte beyond the limit.
func (s *Service) receive(stream grpc.ClientStreamingServer[agentv1.PutFileRequest, agentv1.PutFileResponse], path string) ([]byte, error) {
	var data bytes.Buffer
	for {
		req, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return data.Bytes(), nil
		case err != nil:
			return nil, err
		case req.GetFile() != nil:
			return nil, errs.New(errs.InvalidArgument, "only the first part says which file it is")
		case int64(data.Len()+len(req.GetData())) > s.store.maxBytes:
			return nil, tooLarge(path, s.store.maxBytes)
		}
		data.Write(req.GetData())
	}
}

// DeleteFile implements WorkspaceService.
func (s *Service) DeleteFile(ctx context.Context, req *agentv1.DeleteFileRequest) (*agentv1.DeleteFileResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.store.Delete(ctx, user, req.GetPath()); err != nil {
		return nil, err
	}
	return &agentv1.DeleteFileResponse{Success: true}, nil
}

func behalf(ctx context.Context) (ids.UserID, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return "", errs.New(errs.InvalidArgument, "%v", err)
	}
	return user, nil
}

func (f File) proto() *agentv1.File {
	return &agentv1.File{
		Path: f.Path, Size: float64(f.Size), ContentType: f.ContentType, UpdatedAt: timestamppb.New(f.Updated), Etag: f.ETag,
	}
}
