package options_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/options"
)

func TestRequire(t *testing.T) {
	t.Parallel()
	if err := options.Require("x", map[string]bool{"Store": false}); err != nil {
		t.Error(err)
	}
	err := options.Require("x", map[string]bool{"Store": true, "Box": true, "Guard": false})
	if err == nil || err.Error() != "x: Options.Box is missing; it is required\nx: Options.Store is missing; it is required" {
		t.Error(err)
	}
}

func TestNotNegative(t *testing.T) {
	t.Parallel()
	if err := options.NotNegative("x", map[string]int64{"Limit": 0}); err != nil {
		t.Error(err)
	}
	if err := options.NotNegative("x", map[string]int64{"Limit": -1, "Room": 2}); err == nil || !strings.Contains(err.Error(), "Options.Limit is -1") {
		t.Error(err)
	}
}
