package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Item is one thing that is remembered.
type Item = store.Memory

// The scopes.
const (
	User    = "user"
	Project = "project"
	Session = "session"
)

var (
	scopes = []string{User, Project, Session}
	types  = []string{"preference", "fact", "skill", "habit", "event", "context", "constraint", "decision"}
)

// Where an item comes from.
const (
	ByUser    = "user"
	ByAgent   = "agent"
	Extracted = "extracted"
)

// maxContent is the most characters of an item.
const maxContent = 2000

func invalid(format string, args ...any) error { return errs.New(errs.MemoryInvalid, format, args...) }

// check completes an item with the defaults, and refuses one that cannot be kept.
func check(m Item) (Item, error) {
	if m.Type == "" {
		m.Type = "fact"
	}
	if m.Scope == "" {
		m.Scope = User
	}
	if !slices.Contains(scopes, m.Scope) {
		return m, invalid("scope must be one of %s", strings.Join(scopes, ", "))
	}
	if m.Scope != Project {
		m.Project = ""
	}
	if m.Scope != Session {
		m.Session = ""
	}
	switch {
	case m.Scope == Project && m.Project == "":
		return m, invalid("scope project needs project_id")
	case m.Scope == Session && m.Session == "":
		return m, invalid("scope session needs session_id")
	case len(m.Project) > 256 || len(m.Session) > 256:
		return m, invalid("project_id and session_id have at most 256 bytes")
	}
	return checkText(m)
}

// checkText checks type and content.
func checkText(m Item) (Item, error) {
	if !slices.Contains(types, m.Type) {
		return m, invalid("type must be one of %s", strings.Join(types, ", "))
	}
	m.Content = strings.TrimSpace(strings.ToValidUTF8(m.Content, "\uFFFD"))
	switch n := utf8.RuneCountInString(m.Content); {
	case n == 0:
		return m, invalid("content is required, a text that is not empty")
	case n > maxContent:
		return m, invalid("content has %d characters, at most %d are kept", n, maxContent)
	case IsSecret(m.Content):
		return m, invalid("content looks like a password, a key or a token; secrets are never remembered")
	}
	m.Sum = Sum(m.Content)
	return m, nil
}

// Sum is the same for contents that differ only in case, white space and the punctuation at the end.
func Sum(content string) string {
	words := strings.Join(strings.Fields(strings.ToLower(content)), " ")
	s := sha256.Sum256([]byte(strings.TrimRightFunc(words, unicode.IsPunct)))
	return hex.EncodeToString(s[:])
}

// secrets are what passwords, keys and tokens look like.
var secrets = regexp.MustCompile(`(?i)-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-[a-z0-9_-]{16,}|\bgh[pousr]_[a-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|` +
	`\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|\bBearer\s+[\w.~+/-]{16,}|` +
	`\b(?:password|passwd|passphrase|passwort|api[ _-]?key|secret[ _-]?key|access[ _-]?token|private[ _-]?key|client[ _-]?secret|pin code)\b\s*(?:is|=|:)\s*\S{3,}|` +
	`(?:密码|口令|密钥)\s*(?:是|为|:|:|=)\s*\S{3,}|://[^/\s:@]+:[^/\s:@]{3,}@`)

// IsSecret reports whether a text looks like it has a secret in it.
func IsSecret(text string) bool { return secrets.MatchString(text) }
