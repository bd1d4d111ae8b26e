package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/memblob" // mem://
	_ "gocloud.dev/blob/s3blob"  // s3://
	"gocloud.dev/gcerrors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace/pgblob"
)

// DefaultMaxBytes is the size of the largest file where nothing else is configured.
const DefaultMaxBytes = 32 << 20

// Options of a Store.
type Options struct {
	// URL is where the files are: file:///directory (made where it is missing), s3://bucket?region=… with the parameters of
	// gocloud.dev/blob/s3blob and the credentials of the AWS environment, postgres://user:password@host/database, or mem://.
	URL string
	// MaxBytes bounds a file; 0 means DefaultMaxBytes.
	MaxBytes int64
	// Quota is how much one user may store.
	Quota Quota
	// Redis is where listings and small files are cached; nil for no cache. It stays the caller's.
	Redis redis.UniversalClient
	// Logger is told when the cache cannot be used; nil means discard.
	Logger *slog.Logger
}

// validate reports what cannot work.
func (o Options) validate() error {
	return errors.Join(options.Require("workspace", map[string]bool{"URL": o.URL == ""}), options.NotNegative("workspace", map[string]int64{
		"MaxBytes": o.MaxBytes, "Quota.Files": int64(o.Quota.Files), "Quota.Bytes": o.Quota.Bytes,
	}))
}

// File describes a file.
type File struct {
	Path        string    `json:"path"`
	Size        int64     `json:"size"`
	ContentType string    `json:"content_type"`
	Updated     time.Time `json:"updated"`
	ETag        string    `json:"etag"` // changes with the content; without quotes
}

// Store keeps the files of all users. Its methods may be called from several goroutines. Errors are *errs.Error, or the
// context's.
type Store struct {
	// Static after construction.
	bucket   *blob.Bucket
	area     string // the directory of the user's that the files are in
	onDisk   bool
	maxBytes int64
	quota    Quota
	writes   *userSlots // one at a time: each sees what the one before has written
	cache    *cache
}

// disk keeps readers of a file from reading while it is written: the driver overwrites a file's attributes, such as its type, in
// place, so that a reader at that moment would find them cut off. Stores of one process may share a directory.
var disk [64]sync.RWMutex

// Open opens the storage. It does not ask whether S3 answers; PostgreSQL has to.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Store{area: main, maxBytes: o.MaxBytes, quota: o.Quota, writes: newUserSlots(1), cache: newCache(o.Redis, obs.OrDiscard(o.Logger))}
	if s.maxBytes == 0 {
		s.maxBytes = DefaultMaxBytes
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("workspace: the storage's URL cannot be read") // it may hold credentials
	}
	switch u.Scheme {
	case fileblob.Scheme:
		s.onDisk = true
		// Temporary files are written beside the others: the system's own directory for them may be on another file system.
		s.bucket, err = fileblob.OpenBucket(directory(u), &fileblob.Options{CreateDir: true, DirFileMode: 0o700, NoTempDir: true})
	case "s3", "mem":
		s.bucket, err = blob.OpenBucket(ctx, o.URL)
	case "postgres", "postgresql":
		s.bucket, err = pgblob.Open(ctx, o.URL)
	default:
		return nil, fmt.Errorf("workspace: the storage's URL begins with %q, must begin with file, postgres, s3 or mem", u.Scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("workspace: open the storage: %w", err)
	}
	return s, nil
}

// main is the area of the files that users and agents see as the workspace.
const main = "workspace"

// SkillsArea has the folders of users' skills.
const SkillsArea = "skills"

// Area returns the same storage for another directory of every user's, beside the workspace. It has no quota and no cache: who
// uses it counts, and knows what is there. It is open as long as s is.
func (s *Store) Area(name string) *Store {
	return &Store{
		bucket: s.bucket, area: name, onDisk: s.onDisk, maxBytes: s.maxBytes, writes: newUserSlots(areaWrites), cache: newCache(nil, s.cache.log),
	}
}

// areaWrites is how many files of one user are written at one time where nobody counts them.
const areaWrites = 8

// directory is the path that a file URL names; file:///C:/data is one on Windows.
func directory(u *url.URL) string {
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' && filepath.Separator == '\\' {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}

// DirURL is the URL of a directory, for Options.
func DirURL(dir string) string {
	path := filepath.ToSlash(dir)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: fileblob.Scheme, Path: path}).String()
}

// Close closes the storage; no other method may be running.
func (s *Store) Close() error { return s.bucket.Close() }

// MaxBytes is the size of the largest file.
func (s *Store) MaxBytes() int64 { return s.maxBytes }

// key checks the path of a file, and returns its key.
func (s *Store) key(user ids.UserID, path string) (string, error) {
	if err := checkUser(user); err != nil {
		return "", err
	}
	if err := CheckPath(path); err != nil {
		return "", err
	}
	key := home(user, s.area) + encode(path)
	if over := len(key) - maxPath; over > 0 {
		return "", errs.New(errs.InvalidArgument, "path has %d bytes, %d more than there is room for", len(path), over)
	}
	return key, nil
}

func checkUser(user ids.UserID) error {
	if err := ids.Check("user_id", string(user)); err != nil {
		return errs.New(errs.InvalidArgument, "%v", err)
	}
	return nil
}

// lock locks a file until unlock is called.
func (s *Store) lock(key string, write bool) (unlock func()) {
	if !s.onDisk {
		return func() {}
	}
	sum := uint32(2166136261) // FNV-1a
	for i := range len(key) {
		sum = (sum ^ uint32(key[i])) * 16777619
	}
	mu := &disk[sum%uint32(len(disk))]
	if write {
		mu.Lock()
		return mu.Unlock
	}
	mu.RLock()
	return mu.RUnlock
}

// refuse returns the error for a caller. It does not repeat the storage's own message.
func refuse(ctx context.Context, err error, path string) error {
	var own *errs.Error
	switch {
	case err == nil || errors.As(err, &own):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case gcerrors.Code(err) == gcerrors.NotFound, errors.Is(err, syscall.ENOTDIR): // a path below a file
		return notFound(path)
	}
	return &errs.Error{Reason: errs.AgentUnavailable, Message: "the storage of files cannot be used right now", Err: err}
}

func notFound(path string) error {
	return errs.New(errs.FileNotFound, "there is no file %s", path)
}

func tooLarge(path string, limit int64) error {
	return errs.New(errs.FileTooLarge, "%s is larger than %d bytes", path, limit)
}
