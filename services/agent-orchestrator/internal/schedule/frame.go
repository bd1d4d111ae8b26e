package schedule

import (
	"encoding/json"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Frame is a notification as web clients read it.
func Frame(n store.Notification) []byte {
	frame, _ := json.Marshal(struct { // of strings: it cannot fail
		Type      string    `json:"type"`
		ID        string    `json:"id"`
		TaskID    string    `json:"task_id"`
		Title     string    `json:"title"`
		Read      bool      `json:"read"`
		Status    string    `json:"status"`
		Message   string    `json:"message"`
		SessionID string    `json:"session_id"`
		CreatedAt time.Time `json:"created_at"`
	}{"notification", n.ID, n.Task, n.Title, n.Read, string(n.Status), n.Message, string(n.Session), n.Created.UTC()})
	return frame
}
