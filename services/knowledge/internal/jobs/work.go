package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/services/knowledge/internal/chunk"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/embed"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/terms"
)

// lastWords bounds what is written when a pod stops.
const lastWords = 5 * time.Second

// job is the work on one document.
type job struct {
	p        *Pool
	claim    *store.Claim
	progress atomic.Uint64 // in thousandths
}

// handle works on a document until its end, whatever that is.
func (p *Pool) handle(ctx context.Context, c *store.Claim) {
	j := &job{p: p, claim: c}
	began := time.Now()
	working, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { j.renew(working, cancel) })
	err := j.run(working)
	cancel(nil)
	renewing.Wait()
	if err != nil && errors.Is(context.Cause(working), store.ErrLost) {
		err = store.ErrLost
	}
	result := j.end(ctx, err)
	p.metrics.ended.WithLabelValues(result).Inc()
	if result == "completed" {
		p.metrics.seconds.Observe(time.Since(began).Seconds())
	}
}

// renew prolongs the claim until ctx ends, and ends the work when the claim is lost.
func (j *job) renew(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(j.p.o.Claim / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := j.p.o.Store.Renew(ctx, j.claim, j.p.o.Claim, j.done())
		if errors.Is(err, store.ErrLost) {
			cancel(store.ErrLost)
			return
		}
	}
}

func (j *job) done() float64 { return float64(j.progress.Load()) / 1000 }

// reached says how far the work is.
func (j *job) reached(progress float64) {
	j.progress.Store(uint64(progress * 1000))
	if j.claim.Status != store.Processing {
		return
	}
	d := j.claim.Document
	d.Progress, d.Error = j.done(), ""
	j.p.o.Announcer.Document(d)
}

// run does the work. A panic is the document's failure.
func (j *job) run(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			j.p.log.ErrorContext(ctx, "the work on a document panicked", "document", j.claim.ID, "panic", p, "stack", string(debug.Stack()))
			err = &parse.Failure{Message: "the document cannot be processed"}
		}
	}()
	if j.claim.Status == store.Completed {
		return j.embedAnew(ctx)
	}
	if j.claim.Attempts > maxAttempts {
		return &parse.Failure{Message: fmt.Sprintf("the server ended %d times while it processed the document", maxAttempts)}
	}
	j.reached(0)
	sections, err := j.read(ctx)
	if err != nil {
		return err
	}
	chunks := chunk.Split(sections)
	if len(chunks) == 0 {
		return &parse.Failure{Message: "EMPTY_DOCUMENT: the document has no text"}
	}
	if len(chunks) >= store.MaxChunks {
		return &parse.Failure{Message: fmt.Sprintf("TOO_LONG: the document has %d chunks, at most %d are kept", len(chunks), store.MaxChunks-1)}
	}
	return j.index(ctx, chunks)
}

// read copies the file to the disk, and reads it.
func (j *job) read(ctx context.Context) ([]parse.Section, error) {
	file, err := os.CreateTemp("", "hecaton-document-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	if err := j.p.o.Store.CopyFile(ctx, j.claim.Document, file); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, 0); err != nil {
		return nil, err
	}
	j.reached(0.05)
	sections, err := j.p.o.Reader.Read(ctx, file, j.claim.FileName)
	if err == nil {
		j.reached(0.2)
	}
	return sections, err
}

// embedBatch is after how many chunks the progress is told.
const embedBatch = 256

func (j *job) index(ctx context.Context, chunks []chunk.Chunk) error {
	indexed := make([]store.Indexed, len(chunks))
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		indexed[i] = store.Indexed{
			Chunk: store.Chunk{Content: c.Content, Page: c.Page, Headings: c.Headings, Repeated: c.Repeated}, Terms: terms.Of(c.Content),
		}
		texts[i] = embedded(c.Headings, c.Content)
	}
	vectors, err := j.vectors(ctx, texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		indexed[i].Vector = v
	}
	d, err := j.p.o.Store.Complete(ctx, j.claim, j.p.o.Embedder.Model(), indexed)
	if err == nil {
		j.p.o.Announcer.Document(d)
	}
	return err
}

// embedded is the text that is embedded of a chunk: with the headings above it, since its own text may not say what it is about.
func embedded(headings []string, content string) string {
	if len(headings) == 0 {
		return content
	}
	return strings.Join(headings, " > ") + "\n\n" + content
}

func (j *job) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(out) < len(texts) {
		batch := texts[len(out):min(len(out)+embedBatch, len(texts))]
		vectors, err := j.p.o.Embedder.Embed(ctx, batch)
		if err != nil {
			return nil, err
		}
		if len(vectors) != len(batch) {
			return nil, &embed.Error{Message: "the embedder gave a wrong number of vectors", Final: true}
		}
		if err := j.p.o.Store.CheckDimensions(ctx, j.p.o.Embedder.Model(), len(vectors[0])); err != nil {
			return nil, err
		}
		out = append(out, vectors...)
		j.reached(0.2 + 0.75*float64(len(out))/float64(len(texts)))
	}
	return out, nil
}

// embedAnew makes the vectors of a document that another model had embedded.
func (j *job) embedAnew(ctx context.Context) error {
	chunks, err := j.p.o.Store.AllChunks(ctx, j.claim)
	if err != nil {
		return err
	}
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = embedded(c.Headings, c.Content)
	}
	vectors, err := j.vectors(ctx, texts)
	if err != nil {
		return err
	}
	return j.p.o.Store.Reembed(ctx, j.claim, j.p.o.Embedder.Model(), vectors)
}
