package agentapi

import (
	"context"
	"errors"
	"io"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// ListFiles lists the files of a user's workspace, by path; cursor is that of the page before, and the last page has none.
func (a *API) ListFiles(ctx context.Context, user ids.UserID, limit int, cursor string) ([]*agentv1.File, string, error) {
	resp, err := a.files.ListFiles(auth.OnBehalf(ctx, user), &agentv1.ListFilesRequest{Limit: int32(limit), Cursor: cursor})
	return resp.GetFiles(), resp.GetNextCursor(), errs.FromGRPC(err)
}

// ReadFile returns a file of a user's workspace with its bytes. One of more than limit bytes is TOO_LARGE.
func (a *API) ReadFile(ctx context.Context, user ids.UserID, path string, limit int) (*agentv1.File, []byte, error) {
	ctx, cancel := context.WithCancel(auth.OnBehalf(ctx, user))
	defer cancel()
	s, err := a.files.GetFile(ctx, &agentv1.GetFileRequest{Path: path})
	if err != nil {
		return nil, nil, errs.FromGRPC(err)
	}
	first, err := s.Recv()
	if err != nil {
		return nil, nil, errs.FromGRPC(err)
	}
	file := first.GetFile()
	tooLarge := errs.New(errs.TooLarge, "the file has more than %d bytes", limit)
	if file.GetSize() > float64(limit) {
		return nil, nil, tooLarge
	}
	data := make([]byte, 0, int(file.GetSize()))
	for {
		part, err := s.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return file, data, nil
		case err != nil:
			return nil, nil, errs.FromGRPC(err)
		case len(data)+len(part.GetData()) > limit:
			return nil, nil, tooLarge
		}
		data = append(data, part.GetData()...)
	}
}
