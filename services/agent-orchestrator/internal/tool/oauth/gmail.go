package oauth

import (
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"net/mail"
	"net/url"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	gmailUser    = "/gmail/v1/users/me"
	gmailCompose = `{"to":{"type":"string","description":"Addresses, separated by commas"},"cc":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string","description":"Plain text"},"thread_id":{"type":"string","description":"The thread that it answers to"}}`
	gmailMost    = 20 // messages of a search: each is one more request
)

var gmailActions = []action{
	reads("gmail_search_messages", "Searches the user's mail with Gmail's search syntax, e.g. \"from:ana newer_than:7d\".",
		`{"query":{"type":"string"},"max_results":{"type":"integer","description":"At most 20; 10 where it is left out"}}`, []string{"query"}, gmailSearch),
	reads("gmail_get_message", "Reads one of the user's mails.", `{"id":{"type":"string"}}`, []string{"id"}, gmailGet),
	writes("gmail_send_message", "Sends a mail as the user.", gmailCompose, []string{"to", "subject", "body"}, gmailSend),
	writes("gmail_create_draft", "Puts a mail into the user's drafts.", gmailCompose, []string{"to", "subject", "body"}, gmailDraft),
}

// gmailMessage is a mail as Gmail has it.
type gmailMessage struct {
	ID       string    `json:"id"`
	ThreadID string    `json:"threadId"`
	Snippet  string    `json:"snippet"`
	Payload  gmailPart `json:"payload"`
}

type gmailPart struct {
	MIMEType string        `json:"mimeType"`
	Filename string        `json:"filename"`
	Headers  []gmailHeader `json:"headers"`
	Body     struct {
		Data string `json:"data"`
	} `json:"body"`
	Parts []gmailPart `json:"parts"`
}

type gmailHeader struct{ Name, Value string }

// gmailView is a mail as the model gets it.
type gmailView struct {
	ID       string `json:"id"`
	ThreadID string `json:"thread_id"`
	From     string `json:"from"`
	To       string `json:"to,omitempty"`
	Subject  string `json:"subject"`
	Date     string `json:"date"`
	Snippet  string `json:"snippet,omitempty"`
	Body     string `json:"body,omitempty"`
}

func (m gmailMessage) view() gmailView {
	v := gmailView{ID: m.ID, ThreadID: m.ThreadID, Snippet: m.Snippet}
	for _, h := range m.Payload.Headers {
		switch strings.ToLower(h.Name) {
		case "from":
			v.From = h.Value
		case "to":
			v.To = h.Value
		case "subject":
			v.Subject = h.Value
		case "date":
			v.Date = h.Value
		}
	}
	return v
}

// text returns the text of the first part of a type, at any depth.
func (p gmailPart) text(mimeType string) string {
	if p.MIMEType == mimeType && p.Filename == "" {
		if raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(p.Body.Data, "=")); err == nil {
			return string(raw)
		}
	}
	for _, inner := range p.Parts {
		if text := inner.text(mimeType); text != "" {
			return text
		}
	}
	return ""
}

func gmailSearch(ctx context.Context, c *client, in struct {
	Query string `json:"query"`
	Max   int    `json:"max_results"`
},
) (tool.Result, error) {
	most := within(in.Max, 10, gmailMost)
	r, err := c.get(ctx, gmailUser+"/messages", query("q", in.Query, "maxResults", strconv.Itoa(most)))
	if err != nil {
		return tool.Result{}, err
	}
	var found struct {
		Messages []struct {
			ID string `json:"id"`
		} `json:"messages"`
	}
	if err := r.decode(&found); err != nil {
		return tool.Result{}, err
	}
	views := make([]gmailView, 0, most)
	for _, m := range found.Messages[:min(len(found.Messages), most)] {
		got, err := gmailFetch(ctx, c, m.ID, url.Values{"format": {"metadata"}, "metadataHeaders": {"From", "To", "Subject", "Date"}})
		if err != nil {
			return tool.Result{}, err
		}
		views = append(views, got.view())
	}
	return show(views), nil
}

func gmailFetch(ctx context.Context, c *client, id string, q url.Values) (gmailMessage, error) {
	var m gmailMessage
	address, err := under(gmailUser+"/messages", id)
	if err != nil {
		return m, err
	}
	r, err := c.get(ctx, address, q)
	if err != nil {
		return m, err
	}
	return m, r.decode(&m)
}

func gmailGet(ctx context.Context, c *client, in struct {
	ID string `json:"id"`
},
) (tool.Result, error) {
	m, err := gmailFetch(ctx, c, in.ID, query("format", "full"))
	if err != nil {
		return tool.Result{}, err
	}
	v := m.view()
	if v.Body = m.Payload.text("text/plain"); v.Body == "" {
		v.Body = m.Payload.text("text/html")
	}
	if v.Body != "" {
		v.Snippet = ""
	}
	return show(v), nil
}

type gmailIn struct {
	To      string `json:"to"`
	CC      string `json:"cc"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
	Thread  string `json:"thread_id"`
}

// message is the mail as Gmail takes it: RFC 5322, in base64url. Addresses are parsed and formatted again, the subject is
// encoded and the body is base64, so that no argument can add a header.
func (in gmailIn) message() (map[string]string, error) {
	var m strings.Builder
	for _, h := range [][2]string{{"To", in.To}, {"Cc", in.CC}} {
		if h[1] == "" {
			continue
		}
		list, err := mail.ParseAddressList(h[1])
		if err != nil {
			return nil, invalid("arguments." + strings.ToLower(h[0]) + " must be mail addresses, separated by commas")
		}
		var parts []string
		for _, a := range list {
			parts = append(parts, a.String())
		}
		fmt.Fprintf(&m, "%s: %s\r\n", h[0], strings.Join(parts, ", "))
	}
	fmt.Fprintf(&m, "Subject: %s\r\n", mime.QEncoding.Encode("utf-8", strings.Join(strings.Fields(in.Subject), " ")))
	m.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n")
	body := base64.StdEncoding.EncodeToString([]byte(in.Body))
	for len(body) > 76 { // RFC 2045, 6.8
		m.WriteString(body[:76] + "\r\n")
		body = body[76:]
	}
	m.WriteString(body + "\r\n")
	out := map[string]string{"raw": base64.URLEncoding.EncodeToString([]byte(m.String()))}
	if in.Thread != "" {
		out["threadId"] = in.Thread
	}
	return out, nil
}

func gmailSend(ctx context.Context, c *client, in gmailIn) (tool.Result, error) {
	m, err := in.message()
	if err != nil {
		return tool.Result{}, err
	}
	return gmailPut(ctx, c, "/messages/send", m)
}

func gmailDraft(ctx context.Context, c *client, in gmailIn) (tool.Result, error) {
	m, err := in.message()
	if err != nil {
		return tool.Result{}, err
	}
	return gmailPut(ctx, c, "/drafts", map[string]any{"message": m})
}

func gmailPut(ctx context.Context, c *client, where string, body any) (tool.Result, error) {
	r, err := c.send(ctx, http.MethodPost, gmailUser+where, body)
	if err != nil {
		return tool.Result{}, err
	}
	var made struct {
		ID string `json:"id"`
	}
	err = r.decode(&made)
	return show(made), err
}
