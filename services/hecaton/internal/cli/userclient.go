package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/chat"
)

// userClient asks a gateway about what a user has there, and says what it answered.
type userClient struct {
	restClient
	e Env
}

// say writes a line of text that others may have written.
func (c userClient) say(format string, args ...any) {
	fmt.Fprintln(c.e.Stdout, chat.Safe(fmt.Sprintf(format, args...)))
}

// get asks, and reads the answer into out.
func (c userClient) get(ctx context.Context, r restRequest, out any) error {
	raw, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("the answer of %s is not JSON: %w", c.server, err)
	}
	return nil
}
