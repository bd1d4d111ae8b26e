package mail

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Sender sends notifications through one server. It is immutable.
type Sender struct {
	host   string
	from   string
	domain string
	opts   []mail.Option
}

// patience bounds one conversation with the server.
const patience = 20 * time.Second

// New reads the address of a server: smtp://user:password@host:port?from=address&domain=name. With smtp, TLS begins where the server offers
// it, and must where there is a password; with smtps it is there from the start. from is hecaton@domain where it is left out, and domain, of
// users whose ids are no addresses, localhost.
func New(address string) (*Sender, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, fmt.Errorf("smtp-url must be smtp://user:password@host:port or smtps://…, with from= and domain= in its query") // not err: it has the password
	}
	s := &Sender{host: u.Hostname(), domain: cmp.Or(u.Query().Get("domain"), "localhost")}
	s.from = cmp.Or(u.Query().Get("from"), "hecaton@"+s.domain)
	s.opts = []mail.Option{mail.WithTimeout(patience), mail.WithTLSPolicy(mail.TLSOpportunistic)}
	if u.Scheme == "smtps" {
		s.opts = append(s.opts, mail.WithSSL())
	}
	if u.Port() != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			return nil, fmt.Errorf("smtp-url: the port must be a number")
		}
		s.opts = append(s.opts, mail.WithPort(port))
	}
	if password, ok := u.User.Password(); ok {
		s.opts = append(s.opts, mail.WithUsername(u.User.Username()), mail.WithPassword(password), mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover))
		if u.Scheme == "smtp" {
			s.opts = append(s.opts, mail.WithTLSPolicy(mail.TLSMandatory))
		}
	}
	if err := mail.NewMsg().From(s.from); err != nil {
		return nil, fmt.Errorf("smtp-url: from: %w", err)
	}
	_, err = mail.NewClient(s.host, s.opts...)
	return s, err
}

// Send sends one notification to its user.
func (s *Sender) Send(ctx context.Context, n store.Notification) error {
	m := mail.NewMsg()
	if err := m.From(s.from); err != nil {
		return err
	}
	if err := m.To(s.addressOf(string(n.User))); err != nil {
		return err
	}
	m.Subject(fmt.Sprintf("%s: %s", n.Title, n.Status))
	m.SetDateWithValue(n.Created)
	m.SetMessageIDWithValue(n.ID + "@" + s.domain) // the same where it is sent again, so that a reader can tell
	m.SetBodyString(mail.TypeTextPlain, n.Message+"\n")
	c, err := mail.NewClient(s.host, s.opts...)
	if err != nil {
		return err
	}
	return c.DialAndSendWithContext(ctx, m)
}

// addressOf is a user's address: the id itself, or one below the domain.
func (s *Sender) addressOf(user string) string {
	if strings.Contains(user, "@") {
		return user
	}
	return fmt.Sprintf("%q@%s", user, s.domain)
}
