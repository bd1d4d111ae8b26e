package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// OpenAIOptions say where an OpenAI-compatible API is.
type OpenAIOptions struct {
	// BaseURL ends with the version, as in https://api.openai.com/v1; required.
	BaseURL string
	APIKey  config.Secret
	// Name of the model; required.
	Name string
	// Attempts at one batch; 0 means 3. Timeout of each; 0 means 30 s.
	Attempts int
	Timeout  time.Duration
}

// OpenAI is such an API.
type OpenAI struct {
	o      OpenAIOptions
	url    string
	client *http.Client
}

// Bounds of one request.
const (
	batchTexts = 64
	batchBytes = 128 << 10
	maxAnswer  = 64 << 20
)

// NewOpenAI checks the options and returns an embedder.
func NewOpenAI(o OpenAIOptions) (*OpenAI, error) {
	if !strings.HasPrefix(o.BaseURL, "http://") && !strings.HasPrefix(o.BaseURL, "https://") {
		return nil, errors.New("embed: the address of the embeddings must begin with http:// or https://")
	}
	if o.Name == "" {
		return nil, errors.New("embed: the model of the embeddings has no name")
	}
	if o.Attempts == 0 {
		o.Attempts = 3
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	return &OpenAI{o, strings.TrimSuffix(o.BaseURL, "/") + "/embeddings", &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}, nil
}

// Close closes idle connections.
func (e *OpenAI) Close() { e.client.CloseIdleConnections() }

// Model implements [Embedder].
func (e *OpenAI) Model() string { return e.o.Name }

// Embed implements [Embedder].
func (e *OpenAI) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < batchTexts && (n == 0 || size+len(texts[n]) <= batchBytes) {
			size += len(texts[n])
			n++
		}
		vectors, err := e.batch(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
		texts = texts[n:]
	}
	for _, v := range out {
		if len(v) != len(out[0]) {
			return nil, &Error{Message: fmt.Sprintf("the embeddings server gave vectors of %d and of %d dimensions", len(out[0]), len(v)), Final: true}
		}
	}
	return out, nil
}

// batch asks for some vectors, again where that may help.
func (e *OpenAI) batch(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.o.Name, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	for attempt, wait := 1, 200*time.Millisecond; ; attempt, wait = attempt+1, 2*wait {
		vectors, err := e.ask(ctx, body, len(texts))
		var own *Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &own) || own.Final || attempt >= e.o.Attempts {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return vectors, err
		}
		if own.After > 5*time.Second { // longer than a caller should wait here
			return nil, err
		}
		select {
		case <-time.After(max(wait, own.After)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (e *OpenAI) ask(ctx context.Context, body []byte, n int) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, e.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Message: "the address of the embeddings is not valid", Final: true, Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	if key := e.o.APIKey.Reveal(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, &Error{Message: "the embeddings server cannot be reached", Err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refused(resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, &Error{Message: "the answer of the embeddings server broke off", Err: err}
	}
	return vectorsOf(raw, n)
}

// refused makes an error of an answer that is none. What the server says may name keys, so only its status is told.
func refused(resp *http.Response) *Error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	err := &Error{Message: "the embeddings server answers " + resp.Status}
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		if seconds, bad := strconv.Atoi(resp.Header.Get("Retry-After")); bad == nil && seconds > 0 {
			err.After = time.Duration(min(seconds, 3600)) * time.Second
		}
	default:
		err.Final = true
	}
	return err
}

// vectorsOf reads n vectors; they may come in any order.
func vectorsOf(raw []byte, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, &Error{Message: "the answer of the embeddings server is not the JSON of embeddings", Err: err}
	}
	out := make([][]float32, n)
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= n || len(d.Embedding) == 0 || out[d.Index] != nil || !normal(d.Embedding) {
			return nil, &Error{Message: "the embeddings server gave a vector that cannot be used", Final: true}
		}
		out[d.Index] = d.Embedding
	}
	for i := range out {
		if out[i] == nil {
			return nil, &Error{Message: fmt.Sprintf("the embeddings server gave %d vectors for %d texts", len(answer.Data), n), Final: true}
		}
	}
	return out, nil
}
