package schedule_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }
