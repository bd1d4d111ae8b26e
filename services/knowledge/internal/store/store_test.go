package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store/storetest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const ana, bob = ids.UserID("ana"), ids.UserID("bob")

func base(t *testing.T, s *store.Store, user ids.UserID) store.Base {
	t.Helper()
	b, err := s.CreateBase(t.Context(), user, "docs", "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func upload(t *testing.T, s *store.Store, b store.Base, user ids.UserID, content string, process bool) store.Document {
	t.Helper()
	u, err := s.BeginUpload(t.Context(), user, b.ID, "a.md", "text/markdown")
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(t.Context(), []byte(content)); err != nil {
		t.Fatal(err)
	}
	d, err := u.Finish(t.Context(), process)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func claim(t *testing.T, s *store.Store) *store.Claim {
	t.Helper()
	c, err := s.Claim(t.Context(), "m", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// unit is a vector of two dimensions at an angle.
func unit(angle float64) []float32 {
	return []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}
}

// index puts a document with one chunk for each text into the index; the vectors turn further and further away.
func index(t *testing.T, s *store.Store, b store.Base, user ids.UserID, texts ...string) store.Document {
	t.Helper()
	upload(t, s, b, user, "x", true)
	var chunks []store.Indexed
	for i, text := range texts {
		chunks = append(chunks, store.Indexed{Chunk: store.Chunk{Content: text, Page: i + 1, Headings: []string{"H"}}, Terms: strings.Fields(text), Vector: unit(float64(i) / 10)})
	}
	d, err := s.Complete(t.Context(), claim(t, s), "m", chunks)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func find(t *testing.T, s *store.Store, q store.Query) store.Lists {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 10
	}
	l, err := s.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAFileComesBackAsItWas(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		content := strings.Repeat("0123456789", 150_000)
		d := upload(t, s, base(t, s, ana), ana, content, false)
		var got bytes.Buffer
		if err := open().CopyFile(t.Context(), d, &got); err != nil || got.String() != content || d.Size != int64(len(content)) || d.Status != store.Pending {
			t.Errorf("%d bytes of %d, %v: %+v", got.Len(), d.Size, err, d)
		}
	})
}

// The scores are those of the formula, over the bases that are searched.
func TestKeywordsAreRankedByBM25(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		b, other := base(t, s, ana), base(t, s, ana)
		index(t, s, b, ana, "red lever", "red red red lever lever with many other words beside it", "lever", "nothing", "red")
		index(t, s, other, ana, "red red", "elsewhere")
		got := find(t, s, store.Query{User: ana, Bases: []string{b.ID}, Terms: []string{"red", "lever"}})
		want := reference([]string{"red lever", "red red red lever lever with many other words beside it", "lever", "nothing", "red"}, []string{"red", "lever"})
		if fmt.Sprint(places(got.Keywords)) != fmt.Sprint(want) {
			t.Errorf("the order is %v, want %v", places(got.Keywords), want)
		}
		if all := find(t, s, store.Query{User: ana, Terms: []string{"red"}}); len(all.Keywords) != 4 {
			t.Errorf("in all bases: %v", all.Keywords)
		}
		if none := find(t, s, store.Query{User: bob, Terms: []string{"red"}, Vector: unit(0), Model: "m"}); none.Keywords != nil || none.Vectors != nil {
			t.Errorf("another user finds %+v", none)
		}
		if _, err := s.Find(t.Context(), store.Query{User: bob, Bases: []string{b.ID}, Terms: []string{"red"}, Limit: 3}); !errors.Is(err, errs.KnowledgeBaseNotFound) {
			t.Errorf("another user's base: %v", err)
		}
	})
}

// places are the indexes of chunks in their documents.
func places(ids []int64) []int {
	var out []int
	for _, id := range ids {
		out = append(out, int(id&(store.MaxChunks-1)))
	}
	return out
}

// reference is BM25 written down once more, over whole texts.
func reference(texts, query []string) []int {
	length := 0.0
	for _, text := range texts {
		length += float64(len(strings.Fields(text)))
	}
	type scored struct {
		i     int
		score float64
	}
	var all []scored
	for i, text := range texts {
		words, score := strings.Fields(text), 0.0
		for _, q := range query {
			n, tf := 0.0, 0.0
			for _, other := range texts {
				if strings.Contains(" "+other+" ", " "+q+" ") {
					n++
				}
			}
			for _, w := range words {
				if w == q {
					tf++
				}
			}
			idf := math.Log(1 + (float64(len(texts))-n+0.5)/(n+0.5))
			score += idf * tf * 2.2 / (tf + 1.2*(1-0.75+0.75*float64(len(words))/(length/float64(len(texts)))))
		}
		if score > 0 {
			all = append(all, scored{i, score})
		}
	}
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if all[j].score > all[i].score {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
	var out []int
	for _, s := range all {
		out = append(out, s.i)
	}
	return out
}

func TestTheNearestVectorsAreFoundAmongManyUsers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		var texts []string
		for i := range 60 {
			texts = append(texts, fmt.Sprint("text ", i))
		}
		for i := range 8 {
			user := ids.UserID(fmt.Sprint("user", i))
			index(t, s, base(t, s, user), user, texts...)
		}
		got := find(t, s, store.Query{User: "user7", Vector: unit(1.02), Model: "m", Limit: 50})
		if len(got.Vectors) != 50 || fmt.Sprint(places(got.Vectors)[:4]) != "[10 11 9 12]" || got.Stale {
			t.Errorf("%d: %v", len(got.Vectors), places(got.Vectors))
		}
		if other := find(t, s, store.Query{User: "user7", Vector: unit(1.02), Model: "other"}); len(other.Vectors) != 0 || !other.Stale {
			t.Errorf("of another model: %+v", other)
		}
	})
}

func TestWhatIsDeletedIsInNoIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		b := base(t, s, ana)
		gone, kept := index(t, s, b, ana, "red lever", "red"), index(t, s, b, ana, "red apple")
		if err := s.DeleteDocument(t.Context(), ana, b.ID, gone.ID); err != nil {
			t.Fatal(err)
		}
		l := find(t, s, store.Query{User: ana, Terms: []string{"red", "lever"}, Vector: unit(0), Model: "m"})
		p, err := s.Passages(t.Context(), ana, append(l.Keywords, l.Vectors...))
		if err != nil || len(l.Keywords) != 1 || len(l.Vectors) != 1 || p[l.Keywords[0]].Document != kept.ID {
			t.Errorf("%+v, %v, %v", l, p, err)
		}
		if err := s.DeleteBase(t.Context(), bob, b.ID); !errors.Is(err, errs.KnowledgeBaseNotFound) {
			t.Errorf("another user deletes it: %v", err)
		}
		if err := s.DeleteBase(t.Context(), ana, b.ID); err != nil {
			t.Fatal(err)
		}
		if p, err := s.Passages(t.Context(), ana, l.Vectors); err != nil || len(p) != 0 {
			t.Errorf("%v, %v", p, err)
		}
		if l := find(t, s, store.Query{User: ana, Terms: []string{"red"}, Vector: unit(0), Model: "m"}); l.Keywords != nil || l.Vectors != nil {
			t.Errorf("%+v", l)
		}
	})
}

func TestAClaimThatWasLostChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s, other := open(), open()
		b := base(t, s, ana)
		d := upload(t, s, b, ana, "x", true)
		dead, err := s.Claim(t.Context(), "m", time.Millisecond)
		if err != nil || dead == nil {
			t.Fatal(dead, err)
		}
		var next *store.Claim
		testkit.Eventually(t, 5*time.Second, func() bool { next = claim(t, other); return next != nil }, "another worker gets the document")
		if next.Attempts != 2 || claim(t, s) != nil {
			t.Errorf("%d attempts, or two workers have it", next.Attempts)
		}
		chunks := []store.Indexed{{Chunk: store.Chunk{Content: "red"}, Terms: []string{"red"}, Vector: unit(0)}}
		if _, err := s.Complete(t.Context(), dead, "m", chunks); !errors.Is(err, store.ErrLost) {
			t.Errorf("the dead worker: %v", err)
		}
		if err := s.Renew(t.Context(), dead, time.Minute, 0.5); !errors.Is(err, store.ErrLost) {
			t.Errorf("the dead worker renews: %v", err)
		}
		if _, err := other.Complete(t.Context(), next, "m", chunks); err != nil {
			t.Error(err)
		}
		if l := find(t, s, store.Query{User: ana, Terms: []string{"red"}, Vector: unit(0), Model: "m"}); len(l.Keywords) != 1 || len(l.Vectors) != 1 {
			t.Errorf("%+v", l)
		}
		// Deleted while a worker has it.
		gone := upload(t, s, b, ana, "x", true)
		c := claim(t, s)
		if err := s.DeleteDocument(t.Context(), ana, b.ID, gone.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Complete(t.Context(), c, "m", chunks); !errors.Is(err, store.ErrLost) {
			t.Errorf("a deleted document: %v", err)
		}
		if _, err := s.Process(t.Context(), ana, b.ID, d.ID); !errors.Is(err, errs.DocumentBusy) {
			t.Errorf("a completed one is processed again: %v", err)
		}
	})
}

func TestADocumentOfAnotherModelIsEmbeddedAnew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		index(t, s, base(t, s, ana), ana, "red", "green")
		c, err := s.Claim(t.Context(), "new", time.Minute)
		if err != nil || c == nil || c.Status != store.Completed {
			t.Fatal(c, err)
		}
		list, err := s.AllChunks(t.Context(), c)
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		if err := s.Reembed(t.Context(), c, "new", [][]float32{{1, 0, 0}, {0, 1, 0}}); err != nil {
			t.Fatal(err)
		}
		l := find(t, s, store.Query{User: ana, Vector: []float32{0, 1, 0}, Model: "new"})
		if fmt.Sprint(places(l.Vectors)) != "[1 0]" || l.Stale {
			t.Errorf("%+v", l)
		}
		if again, err := s.Claim(t.Context(), "new", time.Minute); err != nil || again != nil {
			t.Errorf("%v, %v", again, err)
		}
		var wrong *store.DimensionError
		if err := s.CheckDimensions(t.Context(), "new", 3); err != nil {
			t.Error(err)
		}
		if err := open().CheckDimensions(t.Context(), "new", 4); !errors.As(err, &wrong) {
			t.Errorf("other dimensions: %v", err)
		}
	})
}
