package parse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// tika is an Apache Tika server: PUT /tika returns what it reads as XHTML, with a <div class="page"> for each page.
type tika struct {
	address string
	client  *http.Client
}

func newTika(address string) (*tika, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("parse: the URL of Tika must be http:// or https:// and its host")
	}
	return &tika{strings.TrimSuffix(address, "/") + "/tika", &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}, nil
}

func (t *tika) read(ctx context.Context, file *os.File, mime string, within time.Duration) ([]Section, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*within) // pages of pictures take long
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, t.address, io.NopCloser(file))
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil {
		req.ContentLength = info.Size()
	}
	req.Header.Set("Content-Type", mime)
	req.Header.Set("Accept", "text/html")
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("Apache Tika cannot be reached: %w", err) //nolint:staticcheck // a name
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusUnprocessableEntity || resp.StatusCode == http.StatusUnsupportedMediaType {
		return nil, failure("Apache Tika cannot read the document (%s)", resp.Status)
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil, nil
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("Apache Tika answers %s", resp.Status) //nolint:staticcheck // a name
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, MaxText+1))
	if err != nil {
		return nil, fmt.Errorf("Apache Tika: %w", err) //nolint:staticcheck // a name
	}
	if len(raw) > MaxText {
		return nil, errTooLong()
	}
	return readPaged(raw)
}

// readPaged reads the XHTML of Tika.
func readPaged(raw []byte) ([]Section, error) {
	const mark = `<div class="page">`
	parts := strings.Split(string(raw), mark)
	if len(parts) == 1 {
		return readHTML(raw)
	}
	var s sections
	for i, part := range parts {
		found, err := readHTML([]byte(part))
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			one.Page = max(i, 1)
			if err := s.add(one); err != nil {
				return nil, err
			}
		}
	}
	return s.list, nil
}
