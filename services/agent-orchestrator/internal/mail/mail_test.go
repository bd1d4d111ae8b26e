package mail_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/mail"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// inbox is an SMTP server.
type inbox struct{ mails chan string }

func (i *inbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{inbox: i}, nil }

type session struct {
	inbox    *inbox
	from, to string
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error { s.from = from; return nil }
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error   { s.to = to; return nil }
func (s *session) Reset()                                      {}
func (s *session) Logout() error                               { return nil }

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	s.inbox.mails <- s.from + " to " + s.to + "\n" + string(raw)
	return err
}

func serve(t *testing.T) (*inbox, string) {
	t.Helper()
	i := &inbox{mails: make(chan string, 10)}
	server := smtp.NewServer(i)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // until it is closed
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return i, ln.Addr().String()
}

func TestSend(t *testing.T) {
	t.Parallel()
	i, addr := serve(t)
	s, err := mail.New("smtp://" + addr + "?from=bot@example.com&domain=example.com")
	if err != nil {
		t.Fatal(err)
	}
	n := store.Notification{
		ID: "n1", User: "ana", Title: "Orders\r\nBcc: eve@example.com", Status: store.FiringCompleted, Message: "Three. Grüße", Created: time.Unix(1_800_000_000, 0),
	}
	for _, to := range []string{"ana@example.com", "bob@elsewhere.org"} {
		if err := s.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		got := <-i.mails
		if !strings.HasPrefix(got, "bot@example.com to "+to+"\n") || !strings.Contains(got, "<n1@example.com>") {
			t.Errorf("sent\n%s", got)
		}
		if head, _, _ := strings.Cut(got, "\r\n\r\n"); strings.Contains(head, "\nBcc:") {
			t.Errorf("a title became a header:\n%s", head)
		}
		n.User = "bob@elsewhere.org"
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://x", "smtp://", "smtp://h:port", "smtp://h?from=nobody", "smtp://u:secret\x7f@h"} {
		if _, err := mail.New(url); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
