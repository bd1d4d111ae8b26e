package filecheck

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	if got := names([]byte("a\x00b c\x00")); !slices.Equal(got, []string{"a", "b c"}) {
		t.Errorf("got %q", got)
	}
}
