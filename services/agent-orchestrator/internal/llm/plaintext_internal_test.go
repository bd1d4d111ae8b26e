package llm

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestJustText(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`{"choices":[{"delta":{"content":"a"}}]}`: "a",
		`{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"\u00e9\"\n"},"finish_reason":null}],"usage":null}`: "é\"\n",
		`{"choices":[{"delta":{"content":"a","refusal":null,"tool_calls":null},"logprobs":null}]}`:                                                                                          "a",

		`{"choices":[{"delta":{"content":""}}]}`:                              "",
		`{"choices":[{"delta":{"content":null}}]}`:                            "",
		`{"choices":[{"delta":{"content":[{"text":"a"}]}}]}`:                  "",
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`:      "",
		`{"choices":[{"index":1,"delta":{"content":"a"}}]}`:                   "",
		`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`:   "",
		`{"choices":[{"delta":{"content":"a","content":"b"}}]}`:               "",
		`{"choices":[{"delta":{"content":"a","Content":"b"}}]}`:               "",
		`{"choices":[{"delta":{"content":"a","tool_calls":[{"index":0}]}}]}`:  "",
		`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}`: "",
		`{"choices":[{"delta":{"content":"a"}}],"error":{}}`:                  "",
		`{"choices":[{"delta":{"content":"a"}}],"choices":[]}`:                "",
		`{"choices":[{"delta":{"content":"a"}}]} x`:                           "",
		`[]`: "", `{}`: "", `{"choices":{}}`: "", `{"choices":[null]}`: "", ``: "",
	} {
		text, ok := justText([]byte(document))
		if string(text) != want && ok || ok != (want != "") {
			t.Errorf("%s: %q, %v", document, text, ok)
		}
	}
}

// FuzzJustText compares with the decoder of chunks.
func FuzzJustText(f *testing.F) {
	f.Add([]byte(`{"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"\ud83d\ude00\\"},"finish_reason":null}],"usage":null}`))
	f.Add([]byte(`{"choices":[{"delta":{"content":"a","refusal":null}}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		text, ok := justText(document)
		if !ok {
			return
		}
		var got chunk
		if err := json.Unmarshal(document, &got); err != nil {
			t.Errorf("%s: it is no chunk: %v", document, err)
		}
		want := chunk{Choices: []choice{{Delta: piece{Content: content(text)}}}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, decoded %+v", document, text, got)
		}
	})
}
