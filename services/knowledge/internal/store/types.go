package store

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Status is a document's.
type Status string

// The statuses that callers see. A document whose bytes are still coming is not seen.
const (
	uploading  Status = "uploading"
	Pending    Status = "pending"
	Processing Status = "processing"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// Base is a knowledge base.
type Base struct {
	ID                string
	Name, Description string
	Documents         int
	Created, Updated  time.Time

	num int64
}

// Document is one file of a base.
type Document struct {
	ID, Base         string
	User             ids.UserID
	FileName         string
	FileType         string // MIME
	Size             int64  // bytes
	Status           Status
	Chunks           int
	Error            string // why it has failed or waits; "" for nothing
	Progress         float64
	Created, Updated time.Time

	num, baseNum int64
}

// Chunk is a piece of a document's text.
type Chunk struct {
	Content  string
	Page     int // from 1; 0 for none
	Headings []string
	Repeated int // how many characters at its beginning are the end of the chunk before
}

// Indexed is a chunk with what its index holds.
type Indexed struct {
	Chunk
	Terms  []string // in order, with repetitions
	Vector []float32
}

// newID returns an id that nobody can guess.
func newID(prefix string) string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails
	return prefix + hex.EncodeToString(random[:])
}

// chunkBits is how much of a chunk's id is its index in the document; the rest is the document's number. So the ids of a document's
// chunks are one range, and their order is that of documents and of chunks in them, on both databases.
const chunkBits = 20

// MaxChunks is how many chunks a document may have.
const MaxChunks = 1 << chunkBits

func chunkID(document int64, index int) int64 { return document<<chunkBits | int64(index) }

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
