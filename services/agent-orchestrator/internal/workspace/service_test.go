package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// serve returns a client of a service over files of at most maxBytes.
func serve(t *testing.T, maxBytes int64) agentv1.WorkspaceServiceClient {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, served := grpc.NewServer(), make(chan error, 1)
	store := open(t, workspace.Options{URL: "mem://", MaxBytes: maxBytes})
	service, err := workspace.NewService(workspace.ServiceOptions{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	agentv1.RegisterWorkspaceServiceServer(server, service)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return agentv1.NewWorkspaceServiceClient(conn)
}

func as(t testing.TB, user ids.UserID) context.Context { return auth.OnBehalf(t.Context(), user) }

// upload sends a file in parts of 100 bytes.
func upload(ctx context.Context, c agentv1.WorkspaceServiceClient, path string, data []byte) (*agentv1.File, error) {
	stream, err := c.PutFile(ctx)
	if err != nil {
		return nil, err
	}
	err = stream.Send(&agentv1.PutFileRequest{Part: &agentv1.PutFileRequest_File{File: &agentv1.File{Path: path}}})
	for ; err == nil && len(data) > 0; data = data[min(100, len(data)):] {
		err = stream.Send(&agentv1.PutFileRequest{Part: &agentv1.PutFileRequest_Data{Data: data[:min(100, len(data))]}})
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	resp, err := stream.CloseAndRecv()
	return resp.GetFile(), errs.FromGRPC(err)
}

func download(ctx context.Context, c agentv1.WorkspaceServiceClient, path string) (file *agentv1.File, data []byte, err error) {
	stream, err := c.GetFile(ctx, &agentv1.GetFileRequest{Path: path})
	if err != nil {
		return nil, nil, err
	}
	for {
		resp, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return file, data, nil
		case err != nil:
			return nil, nil, errs.FromGRPC(err)
		case resp.GetFile() != nil:
			file = resp.GetFile()
		}
		data = append(data, resp.GetData()...)
	}
}

func TestService(t *testing.T) {
	t.Parallel()
	c := serve(t, 200_000)
	large := bytes.Repeat([]byte("0123456789"), 20_000)
	for path, data := range map[string][]byte{"empty": {}, "uploads/large": large} {
		put, err := upload(as(t, "ana"), c, path, data)
		if err != nil || put.GetPath() != path || put.GetSize() != float64(len(data)) || put.GetEtag() == "" || put.GetUpdatedAt() == nil {
			t.Errorf("put %s: %v, %v", path, put, err)
		}
		got, raw, err := download(as(t, "ana"), c, path)
		if err != nil || !bytes.Equal(raw, data) || got.GetEtag() != put.GetEtag() || got.GetContentType() != put.GetContentType() {
			t.Errorf("got %s: %v, %d bytes, %v", path, got, len(raw), err)
		}
	}
	if _, err := upload(as(t, "ana"), c, "uploads/large", append(large, 'x')); !errors.Is(err, errs.FileTooLarge) {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := upload(as(t, "ana"), c, "../x", nil); !errors.Is(err, errs.InvalidArgument) {
		t.Errorf("a bad path: %v", err)
	}
	list, err := c.ListFiles(as(t, "ana"), &agentv1.ListFilesRequest{Limit: 1})
	if err != nil || len(list.GetFiles()) != 1 || list.GetFiles()[0].GetPath() != "empty" || list.GetNextCursor() == "" {
		t.Errorf("%v, %v", list, err)
	}
	list, err = c.ListFiles(as(t, "ana"), &agentv1.ListFilesRequest{Cursor: list.GetNextCursor()})
	if err != nil || len(list.GetFiles()) != 1 || list.GetFiles()[0].GetPath() != "uploads/large" || list.GetNextCursor() != "" {
		t.Errorf("%v, %v", list, err)
	}

	// Another's file is absent.
	if _, _, err := download(as(t, "ben"), c, "empty"); !errors.Is(err, errs.FileNotFound) {
		t.Errorf("another's: %v", err)
	}
	if _, err := c.DeleteFile(as(t, "ben"), &agentv1.DeleteFileRequest{Path: "empty"}); !errors.Is(errs.FromGRPC(err), errs.FileNotFound) {
		t.Errorf("another's: %v", err)
	}
	if resp, err := c.DeleteFile(as(t, "ana"), &agentv1.DeleteFileRequest{Path: "empty"}); err != nil || !resp.GetSuccess() {
		t.Errorf("delete: %v, %v", resp, err)
	}
	if _, _, err := download(as(t, "ana"), c, "empty"); !errors.Is(err, errs.FileNotFound) {
		t.Errorf("deleted: %v", err)
	}
}

// Nothing is done for nobody, nor for a stream that does not say what it is about.
func TestServiceRefuses(t *testing.T) {
	t.Parallel()
	c := serve(t, 0)
	nobody := t.Context()
	_, listErr := c.ListFiles(nobody, &agentv1.ListFilesRequest{})
	_, deleteErr := c.DeleteFile(nobody, &agentv1.DeleteFileRequest{Path: "x"})
	for what, err := range map[string]error{
		"list": listErr, "delete": deleteErr, "get": err3(download(nobody, c, "x")), "put": err2(upload(nobody, c, "x", nil)),
	} {
		if !errors.Is(errs.FromGRPC(err), errs.InvalidArgument) {
			t.Errorf("%s for nobody: %v", what, err)
		}
	}
	file := &agentv1.PutFileRequest{Part: &agentv1.PutFileRequest_File{File: &agentv1.File{Path: "x"}}}
	data := &agentv1.PutFileRequest{Part: &agentv1.PutFileRequest_Data{Data: []byte("x")}}
	for name, parts := range map[string][]*agentv1.PutFileRequest{"nothing": {}, "no file": {data}, "two files": {file, data, file}} {
		stream, err := c.PutFile(as(t, "ana"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if err := stream.Send(p); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
		if _, err := stream.CloseAndRecv(); !errors.Is(errs.FromGRPC(err), errs.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := download(as(t, "ana"), c, "x"); !errors.Is(err, errs.FileNotFound) {
		t.Errorf("a file was made: %v", err)
	}
	// A caller that leaves in the middle leaves nothing.
	ctx, cancel := context.WithCancel(as(t, "ana"))
	stream, err := c.PutFile(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*agentv1.PutFileRequest{file, data} {
		if err := stream.Send(p); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if _, err := stream.CloseAndRecv(); err == nil {
		t.Error("it was put")
	}
	if _, _, err := download(as(t, "ana"), c, "x"); !errors.Is(err, errs.FileNotFound) {
		t.Errorf("half a file is there: %v", err)
	}
}
