package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// Tab is a tab that the test opened; the test looks into it from outside, through DevTools.
type Tab struct {
	browser *Browser
	session string
}

// Eval evaluates a JavaScript expression in the page, waits for it if it is a promise, and decodes its value into out
// unless out is nil.
func (tab *Tab) Eval(t testing.TB, expression string, out any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := tab.eval(ctx, expression, out); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
}

func (tab *Tab) eval(ctx context.Context, expression string, out any) error {
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails *struct {
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}
	if err := tab.browser.process.call(ctx, tab.session, "Runtime.evaluate", params, &answer); err != nil {
		return err
	}
	if answer.ExceptionDetails != nil {
		return fmt.Errorf("the page threw %s", answer.ExceptionDetails.Exception.Description)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, out)
}

// WaitFor waits until an expression is true in the page; one that throws is not true yet.
func (tab *Tab) WaitFor(t testing.TB, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	testkit.Eventually(t, patience, func() bool {
		var value bool
		return tab.eval(ctx, expression, &value) == nil && value
	}, "%s", expression)
}
