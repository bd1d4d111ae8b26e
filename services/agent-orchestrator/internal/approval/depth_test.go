package approval_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
)

// Each level is copied once more, so depth is bounded.
func TestCanonicalIsNotNestedTooDeeply(t *testing.T) {
	t.Parallel()
	deep := func(n int) []byte { return []byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)) }
	if got, err := approval.Canonical(deep(64)); err != nil || string(got) != string(deep(64)) {
		t.Errorf("64 levels: %v", err)
	}
	if _, err := approval.Canonical(deep(65)); err == nil {
		t.Error("65 levels are taken")
	}
}
