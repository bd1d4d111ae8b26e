package llm_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"github.com/hecaton-dev/hecaton/pkg/model/offlinemodel"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
)

// BenchmarkAnswer compares the client with a bare loop over go-openai: the same model, an answer of 200 words.
func BenchmarkAnswer(b *testing.B) {
	srv := httptest.NewServer(offlinemodel.New(offlinemodel.Options{}))
	b.Cleanup(srv.Close)
	const task = "say 200 words"
	b.Run("client", func(b *testing.B) {
		client, err := llm.New(llm.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(client.Close)
		e := llm.Endpoint{BaseURL: srv.URL + "/v1", Model: offlinemodel.Name}
		r := llm.Request{Messages: []llm.Message{{Role: llm.User, Content: task}}}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Stream(b.Context(), e, r, func(llm.Delta) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		transport := &http.Transport{}
		b.Cleanup(transport.CloseIdleConnections)
		config := openai.DefaultConfig("")
		config.BaseURL, config.HTTPClient = srv.URL+"/v1", &http.Client{Transport: transport}
		client := openai.NewClientWithConfig(config)
		b.ReportAllocs()
		for b.Loop() {
			bare(b, client, task)
		}
	})
}

func bare(b *testing.B, client *openai.Client, task string) {
	stream, err := client.CreateChatCompletionStream(b.Context(), openai.ChatCompletionRequest{
		Model: offlinemodel.Name, Messages: []openai.ChatCompletionMessage{{Role: "user", Content: task}},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = stream.Close() }() // it was read to its end
	for {
		_, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
