package limits

import (
	"io"
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Request lets a user's request in and serves it. The error is serve's, or an *errs.Error of reason RATE_LIMITED.
func (l *Limiter) Request(r *http.Request, user ids.UserID, serve func() error) error {
	a, err := l.Enter(user, 0)
	if err != nil {
		return err
	}
	defer a.Leave()
	if a != nil && r.ContentLength != 0 {
		r.Body = &meter{r.Body, a}
	}
	return serve()
}

// meter counts a body against the user's limit as it arrives: its announced length may be false.
type meter struct {
	io.ReadCloser
	account *Account
}

func (m *meter) Read(p []byte) (n int, err error) {
	n, err = m.ReadCloser.Read(p)
	m.account.Pay(n)
	return n, err
}
