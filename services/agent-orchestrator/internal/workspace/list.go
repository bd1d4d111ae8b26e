package workspace

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// MaxList is how many files one listing has at most, and how many it has if no limit is given.
const MaxList = 1000

// lookups is how many files of a listing are asked about at once.
const lookups = 16

// Page is a part of a listing, by path.
type Page struct {
	Files []File `json:"files"`
	// Cursor is where the next page begins; "" on the last.
	Cursor string `json:"cursor"`
}

// List lists the files whose paths begin with prefix. cursor is that of the page before.
func (s *Store) List(ctx context.Context, user ids.UserID, prefix string, limit int, cursor string) (Page, error) {
	if err := errors.Join(checkUser(user), checkPrefix(prefix)); err != nil {
		return Page{}, err
	}
	if cursor != "" && CheckPath(cursor) != nil {
		return Page{}, errs.New(errs.InvalidArgument, "cursor must be the cursor of a page before")
	}
	if limit < 0 {
		return Page{}, errs.New(errs.InvalidArgument, "limit is %d, must not be negative", limit)
	}
	if limit == 0 || limit > MaxList {
		limit = MaxList
	}
	slot := s.cache.slot(ctx, user, listName(prefix, limit, cursor))
	if page, ok := slot.page(); ok {
		return page, nil
	}
	page, err := s.list(ctx, home(user, s.area), prefix, limit, cursor)
	if err != nil {
		return Page{}, refuse(ctx, err, prefix)
	}
	slot.keepPage(ctx, page)
	return page, nil
}

func (s *Store) list(ctx context.Context, home, prefix string, limit int, cursor string) (Page, error) {
	after := ""
	if cursor != "" {
		after = home + encode(cursor)
	}
	keys, err := s.keys(ctx, home, encodePrefix(prefix), after, limit+1)
	if err != nil {
		return Page{}, err
	}
	var page Page
	if len(keys) > limit {
		keys = keys[:limit]
		page.Cursor, _ = decode(strings.TrimPrefix(keys[limit-1], home))
	}
	page.Files, err = s.statAll(ctx, home, keys)
	return page, err
}

// keys returns the first keys below home with a prefix after one, in order.
func (s *Store) keys(ctx context.Context, home, prefix, after string, limit int) (keys []string, err error) {
	asked := home + prefix
	if s.onDisk {
		asked = home // the driver looks for the prefix's directory without the escapes that it writes itself
	}
	options := &blob.ListOptions{Prefix: asked, BeforeList: func(as func(any) bool) error {
		var in *s3.ListObjectsV2Input
		if as(&in) && after != "" && in.ContinuationToken == nil {
			in.StartAfter = aws.String(after)
		}
		return nil
	}}
	size := limit
	for token := blob.FirstPageToken; token != nil && len(keys) < limit; {
		objects, next, err := s.bucket.ListPage(ctx, token, size, options)
		if err != nil {
			return nil, err
		}
		if s.onDisk && next != nil {
			// The driver walks directory by directory and cuts a page before everything is sorted: a full page that ends with
			// "a/x" would miss an "a-b" that is found later. So the page is made larger until it holds everything.
			size *= 4
			continue
		}
		for _, object := range objects {
			if _, isFile := decode(object.Key); isFile && object.Key > after && strings.HasPrefix(object.Key, home+prefix) {
				keys = append(keys, object.Key)
			}
		}
		token = next
	}
	slices.Sort(keys)
	return keys[:min(limit, len(keys))], nil
}

// statAll asks about every file, because a listing by itself has no types. Files that were deleted meanwhile are left out.
func (s *Store) statAll(ctx context.Context, home string, keys []string) ([]File, error) {
	files := make([]File, len(keys))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(lookups)
	for i, key := range keys {
		g.Go(func() error {
			path, _ := decode(strings.TrimPrefix(key, home))
			file, err := s.stat(ctx, key, path)
			if gcerrors.Code(err) == gcerrors.NotFound {
				return nil
			}
			files[i] = file
			return err
		})
	}
	err := g.Wait()
	return slices.DeleteFunc(files, func(f File) bool { return f.Path == "" }), err
}
