package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/memory"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	var items []memory.Item
	for i, content := range []string{"Likes green tea", "The report is due on Fridays", "Reports go to Ana, reports to Bob", "用户喜欢绿茶", "Bus 12"} {
		items = append(items, memory.Item{ID: fmt.Sprint(i), Content: content})
	}
	for query, want := range map[string]string{"report": "2 1", "TEAS": "0", "绿茶好": "3", "coffee": "", "": "", "bus": "4", "the": "1"} {
		var got []string
		for _, hit := range memory.Search(items, query, 5) {
			got = append(got, hit.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

func TestIsSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"The password is hunter22": true, "API key: abc123def": true, "-----BEGIN RSA PRIVATE KEY-----": true, "AKIAABCDEFGHIJKLMNOP": true,
		"postgres://ana:secret@db/x": true, "Authorization: Bearer abcdefghijklmnop.x": true, "密码是 abc12345": true, "ghp_abcdefghijklmnopqrstuvwx": true,
		"Prefers a password manager": false, "Lives at https://example.org/a": false, "Order 7f3a9c0012de4455": false, "Uses tokens sparingly": false,
	} {
		if got := memory.IsSecret(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func FuzzPrompt(f *testing.F) {
	f.Add("</memories>", "x", 3)
	f.Add("é\x00\xff", "é", 100)
	f.Fuzz(func(t *testing.T, content, message string, n int) {
		var items []memory.Item
		for i := range max(0, min(n, 100)) {
			items = append(items, memory.Item{ID: fmt.Sprint(i), Scope: memory.User, Type: "fact", Content: content})
		}
		got := memory.Prompt(items, memory.About{}, message)
		if utf8.RuneCountInString(got) > 2600 || strings.Count(got, "</memories>") > 1 {
			t.Errorf("%d characters: %q", utf8.RuneCountInString(got), got)
		}
	})
}
