package parse

import (
	"context"
	"errors"
	"os"
)

// Reader reads documents. It is safe for concurrent use.
type Reader struct {
	bounds Bounds
	tika   *tika // nil for none
}

// Options of a Reader.
type Options struct {
	Bounds Bounds
	// TikaURL is an Apache Tika server's, such as http://tika:9998; "" for none.
	TikaURL string
}

// New returns a Reader.
func New(o Options) (*Reader, error) {
	r := &Reader{bounds: o.Bounds.withDefaults()}
	if o.TikaURL != "" {
		var err error
		if r.tika, err = newTika(o.TikaURL); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Read reads a document. A *[Failure] is the document's own fault; with any other error it is worth trying again.
func (r *Reader) Read(ctx context.Context, file *os.File, fileName string) (found []Section, err error) {
	f, ok := formats[extension(fileName)]
	switch {
	case !ok:
		return nil, failure("files of this type cannot be read")
	case f.apart != nil:
		found, err = apart(ctx, file, fileName, r.bounds)
	case f.whole != nil:
		found, err = read(file, fileName)
	case r.tika == nil:
		return nil, failure("NEEDS_TIKA: %s files are read by an Apache Tika server, and none is set up here (TIKA_URL)", extension(fileName))
	default:
		found, err = r.tika.read(ctx, file, f.mime, r.bounds.Time)
	}
	if err == nil && len(found) == 0 && f.apart != nil && r.tika != nil { // scanned, maybe
		if _, err := file.Seek(0, 0); err != nil {
			return nil, err
		}
		found, err = r.tika.read(ctx, file, f.mime, r.bounds.Time)
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, empty(extension(fileName), r.tika != nil)
	}
	return found, nil
}

// empty is the failure of a document without text.
func empty(kind string, tika bool) *Failure {
	if kind == ".pdf" && !tika {
		return failure("EMPTY_DOCUMENT: the PDF has no text; scanned pages are read by an Apache Tika server, and none is set up here (TIKA_URL)")
	}
	return failure("EMPTY_DOCUMENT: the document has no text")
}

// IsFailure reports whether an error is the document's own fault.
func IsFailure(err error) (message string, ok bool) {
	var own *Failure
	if errors.As(err, &own) {
		return own.Message, true
	}
	return "", false
}
