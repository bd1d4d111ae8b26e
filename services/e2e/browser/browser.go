package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// patience bounds every wait for Chromium, which on a busy machine takes seconds for what takes milliseconds elsewhere.
const patience = 60 * time.Second

// Browser is a running Chromium.
type Browser struct {
	process *process
}

// Start runs Chromium with the extension loaded and these options in place; it begins to connect at once. Both end with
// the test.
func Start(t testing.TB, o Options) *Browser {
	t.Helper()
	return &Browser{process: launch(t, unpack(t, o))}
}

// StartPlain runs Chromium without the extension.
func StartPlain(t testing.TB) *Browser {
	t.Helper()
	return &Browser{process: launch(t, "")}
}

// target is something that DevTools can attach to: a tab, a worker.
type target struct {
	ID   string `json:"targetId"`
	Type string `json:"type"`
	URL  string `json:"url"`
}

// targets lists what is open.
func (b *Browser) targets(ctx context.Context) ([]target, error) {
	var list struct {
		TargetInfos []target `json:"targetInfos"`
	}
	err := b.process.call(ctx, "", "Target.getTargets", nil, &list)
	return list.TargetInfos, err
}

// worker returns the extension's worker; ok is false while it sleeps.
func (b *Browser) worker(ctx context.Context) (w target, ok bool, err error) {
	list, err := b.targets(ctx)
	for _, each := range list {
		if each.Type == "service_worker" && strings.HasPrefix(each.URL, "chrome-extension://"+ExtensionID+"/") {
			return each, true, nil
		}
	}
	return target{}, false, err
}

// WorkerRuns says whether the extension's worker is awake.
func (b *Browser) WorkerRuns(t testing.TB) bool {
	t.Helper()
	_, ok, err := b.worker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// StopWorker puts the extension's worker to sleep, as Chromium does with one that is idle: its memory, its timers and
// its socket are gone.
func (b *Browser) StopWorker(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w, ok, err := b.worker(ctx)
	if err != nil || !ok {
		t.Fatalf("no worker to stop (%v)", err)
	}
	if err := b.process.call(ctx, "", "Target.closeTarget", map[string]any{"targetId": w.ID}, nil); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, patience, func() bool {
		now, ok, err := b.worker(ctx)
		return err == nil && (!ok || now.ID != w.ID)
	}, "the worker stops")
}

// Open opens a tab at a URL, in front of the others; it does not wait for the page to load.
func (b *Browser) Open(t testing.TB, url string) *Tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tab, err := b.open(ctx, url)
	if err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
	return tab
}

func (b *Browser) open(ctx context.Context, url string) (*Tab, error) {
	var created struct {
		TargetID string `json:"targetId"`
	}
	if err := b.process.call(ctx, "", "Target.createTarget", map[string]any{"url": url}, &created); err != nil {
		return nil, err
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	attach := map[string]any{"targetId": created.TargetID, "flatten": true}
	if err := b.process.call(ctx, "", "Target.attachToTarget", attach, &attached); err != nil {
		return nil, err
	}
	return &Tab{browser: b, session: attached.SessionID}, nil
}

// OpenOptions opens the extension's options page.
func (b *Browser) OpenOptions(t testing.TB) *Tab {
	t.Helper()
	return b.openUI(t, "options")
}

// OpenPopup opens the page of the extension's button, in a tab.
func (b *Browser) OpenPopup(t testing.TB) *Tab {
	t.Helper()
	return b.openUI(t, "popup")
}

// status is the text of the extension's own pages that says how the connection is.
const status = `document.getElementById("status").textContent`

// openUI waits until the page is ready for a user: it shows the status last.
func (b *Browser) openUI(t testing.TB, name string) *Tab {
	t.Helper()
	tab := b.Open(t, fmt.Sprintf("chrome-extension://%s/ui/%s.html", ExtensionID, name))
	tab.WaitFor(t, status+`.startsWith("Hecaton: ")`)
	return tab
}
