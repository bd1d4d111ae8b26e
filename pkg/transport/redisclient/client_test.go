package redisclient_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/transport/redisclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://x", "redis://:secret word@x", "redis://x/notanumber", "redis://x?nonsense=1", "://secret"} {
		if client, err := redisclient.Open(url, tlsfiles.Config{}); err == nil {
			t.Errorf("%q: opened %v", url, client)
			_ = client.Close()
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}
