package announce

import (
	"encoding/json"
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
)

// Announcer publishes on the bus; one without a bus is silent.
type Announcer struct {
	bus *bus.Conn
	log *slog.Logger
}

// New returns an Announcer; conn may be nil.
func New(conn *bus.Conn, log *slog.Logger) *Announcer { return &Announcer{conn, obs.OrDiscard(log)} }

// frame is what a web client reads (docs/knowledge.md).
type frame struct {
	Type            string  `json:"type"`
	KnowledgeBaseID string  `json:"knowledge_base_id"`
	DocumentID      string  `json:"document_id"`
	FileName        string  `json:"file_name"`
	Status          string  `json:"status"`
	Progress        float64 `json:"progress"`
	ChunkCount      int     `json:"chunk_count"`
	ErrorMessage    *string `json:"error_message"`
}

// Document says where the work on a document stands. Whoever is not connected now misses it.
func (a *Announcer) Document(d store.Document) {
	if a.bus == nil {
		return
	}
	f := frame{
		Type: "document", KnowledgeBaseID: d.Base, DocumentID: d.ID, FileName: d.FileName, Status: string(d.Status), Progress: d.Progress,
		ChunkCount: d.Chunks,
	}
	if d.Error != "" {
		f.ErrorMessage = &d.Error
	}
	body, err := json.Marshal(f)
	if err == nil {
		err = a.bus.PublishAny(&nats.Msg{Subject: bus.WebSubject(d.User), Data: body})
	}
	if err != nil {
		a.log.Warn("web clients are not told of a document", "document", d.ID, "error", err)
	}
}
