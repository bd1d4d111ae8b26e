package memory_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
