package oauth_test

import (
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// transcripts are calls of every tool, with what the provider answers in its own form.
var transcripts = []struct {
	name, tool, args string
	answers          []answer
}{
	{"github_list_repositories", "github_list_repositories", `{"page":2}`, []answer{{body: `[{"id":1,"full_name":"ana/app","description":"An app","private":true,"default_branch":"main","updated_at":"2026-11-01T10:00:00Z","html_url":"https://github.com/ana/app","owner":{"login":"ana"}}]`}}},
	{"github_get_file", "github_get_file", `{"owner":"ana","repo":"app","path":"/docs/a b.md","ref":"v1"}`, []answer{{body: "# Hello\n", header: map[string]string{"Content-Type": "application/vnd.github.raw+json; charset=utf-8"}}}},
	{"github_get_file_folder", "github_get_file", `{"owner":"ana","repo":"app","path":""}`, []answer{{body: `[{"type":"dir","path":"docs","size":0,"url":"x"},{"type":"file","path":"go.mod","size":12}]`}}},
	{"github_get_file_binary", "github_get_file", `{"owner":"ana","repo":"app","path":"logo.png"}`, []answer{{body: "\x89PNG\r\n\x1a\n\x00", header: map[string]string{"Content-Type": "application/vnd.github.raw+json"}}}},
	{"github_search_issues", "github_search_issues", `{"query":"repo:ana/app is:open \"crash & burn\""}`, []answer{{body: `{"total_count":1,"items":[{"number":7,"title":"Crash","state":"open","html_url":"https://github.com/ana/app/issues/7","updated_at":"2026-11-01T10:00:00Z","user":{"login":"bob"}}]}`}}},
	{"github_list_issues", "github_list_issues", `{"owner":"ana","repo":"app","state":"all"}`, []answer{{body: `[]`}}},
	{"github_create_issue", "github_create_issue", `{"owner":"ana","repo":"app","title":"Crash <now>","body":"It *does*.","labels":["bug"]}`, []answer{{status: 201, body: `{"number":8,"title":"Crash <now>","state":"open","body":"It *does*.","html_url":"https://github.com/ana/app/issues/8","updated_at":"2026-11-01T10:00:00Z","user":{"login":"ana"}}`}}},
	{"github_comment", "github_comment", `{"owner":"ana","repo":"app","number":8,"body":"Seen."}`, []answer{{status: 201, body: `{"id":99,"html_url":"https://github.com/ana/app/issues/8#issuecomment-99"}`}}},

	{"gmail_search_messages", "gmail_search_messages", `{"query":"from:bob newer_than:7d","max_results":1}`, []answer{
		{body: `{"messages":[{"id":"m1","threadId":"t1"},{"id":"m2"}],"resultSizeEstimate":2}`},
		{body: `{"id":"m1","threadId":"t1","snippet":"See you","payload":{"headers":[{"name":"From","value":"Bob <bob@example.com>"},{"name":"Subject","value":"Lunch"},{"name":"Date","value":"Mon, 2 Nov 2026 10:00:00 +0000"}]}}`},
	}},
	{"gmail_get_message", "gmail_get_message", `{"id":"m1"}`, []answer{{body: `{"id":"m1","threadId":"t1","snippet":"See","payload":{"mimeType":"multipart/alternative","headers":[{"name":"from","value":"bob@example.com"},{"name":"To","value":"ana@example.com"}],"parts":[{"mimeType":"text/html","body":{"data":"PGI-"}},{"mimeType":"text/plain","body":{"data":"` + base64.URLEncoding.EncodeToString([]byte("See you at 12.")) + `"}}]}}`}}},
	{"gmail_send_message", "gmail_send_message", `{"to":"Bob <bob@example.com>, eve@example.com","cc":"ana@example.com","subject":"Grüße\r\nBcc: evil@example.com","body":"Hello,\nthis is a body that is long enough to need more than one line of base64.","thread_id":"t1"}`, []answer{{body: `{"id":"m9","threadId":"t1"}`}}},
	{"gmail_create_draft", "gmail_create_draft", `{"to":"bob@example.com","subject":"Lunch","body":"12?"}`, []answer{{body: `{"id":"r1","message":{"id":"m10"}}`}}},

	{"google_drive_search_files", "google_drive_search_files", `{"query":"Ana's plan","page_size":500}`, []answer{{body: `{"files":[{"id":"f1","name":"Plan","mimeType":"application/vnd.google-apps.document","modifiedTime":"2026-11-01T10:00:00Z","webViewLink":"https://docs.google.com/f1"}]}`}}},
	{"google_drive_get_file_document", "google_drive_get_file", `{"file_id":"f1"}`, []answer{{body: `{"id":"f1","name":"Plan","mimeType":"application/vnd.google-apps.document"}`}, {body: "The plan.\n"}}},
	{"google_drive_get_file_text", "google_drive_get_file", `{"file_id":"f/2"}`, []answer{{body: `{"id":"f/2","name":"a.txt","mimeType":"text/plain"}`}, {body: "text"}}},
	{"google_drive_get_file_binary", "google_drive_get_file", `{"file_id":"f3"}`, []answer{{body: `{"id":"f3","name":"a.pdf","mimeType":"application/pdf"}`}, {body: "%PDF\x00"}}},
	{"google_drive_upload_file", "google_drive_upload_file", `{"name":"a.md","content":"# Plan\n","mime_type":"text/markdown","folder_id":"d1"}`, []answer{{body: `{"id":"f4","name":"a.md","mimeType":"text/markdown"}`}}},

	{"slack_list_channels", "slack_list_channels", `{"cursor":"abc="}`, []answer{{body: `{"ok":true,"channels":[{"id":"C1","name":"general","is_private":false,"is_member":true,"topic":{}}],"response_metadata":{"next_cursor":"def="}}`}}},
	{"slack_history", "slack_history", `{"channel":"C1","limit":2}`, []answer{{body: `{"ok":true,"messages":[{"ts":"1.2","user":"U1","text":"hi","type":"message"}],"has_more":false}`}}},
	{"slack_post_message", "slack_post_message", `{"channel":"C1","text":"hello <all>","thread_ts":"1.2"}`, []answer{{body: `{"ok":true,"channel":"C1","ts":"1.3","message":{}}`}}},

	{"notion_search", "notion_search", `{"query":"plan"}`, []answer{{body: `{"results":[{"object":"page","id":"p1","url":"https://notion.so/p1","last_edited_time":"2026-11-01T10:00:00Z","properties":{"title":{}},"parent":{}}],"next_cursor":null}`}}},
	{"notion_get_page", "notion_get_page", `{"page_id":"p1"}`, []answer{
		{body: `{"object":"page","id":"p1","url":"https://notion.so/p1","properties":{"title":{"title":[{"plain_text":"Plan"}]}}}`},
		{body: `{"results":[{"type":"heading_1","heading_1":{"rich_text":[{"plain_text":"One"}]}},{"type":"divider","divider":{}},{"type":"paragraph","paragraph":{"rich_text":[{"plain_text":"a "},{"plain_text":"b"}]}}],"has_more":true}`},
	}},
	{"notion_query_database", "notion_query_database", `{"database_id":"d1","filter":{"property":"Done","checkbox":{"equals":true}},"sorts":null,"page_size":5}`, []answer{{body: `{"results":[]}`}}},
	{"notion_create_page", "notion_create_page", `{"parent_page_id":"p1","title":"Week","content":"One\nstill one\n\n\n\nTwo"}`, []answer{{body: `{"object":"page","id":"p2","url":"https://notion.so/p2","properties":{"title":{}}}`}}},
	{"notion_append", "notion_append", `{"page_id":"p1","content":"` + strings.Repeat("ä", 2001) + `"}`, []answer{{body: `{"results":[]}`}}},
}

// The bytes of every tool's requests and what the agent is told are those of testdata; -update writes them.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, tt := range transcripts {
		covered[tt.tool] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, tt.answers...)
			got, err := call(t.Context(), find(t, source(t, p, nil), all(0), tt.tool), tt.args)
			if err != nil || got.IsError {
				t.Fatalf("%+v, %v", got, err)
			}
			var b strings.Builder
			for _, asked := range p.requests() {
				b.WriteString(strings.ReplaceAll(asked, "\r\n", "\\r\\n\n") + "\n---\n")
			}
			b.WriteString(got.Text + "\n")
			for _, a := range got.Artifacts {
				fmt.Fprintf(&b, "%s %s %s %q\n", a.Type, a.MIMEType, a.Name, a.Data)
			}
			if n := len(p.requests()); n != len(tt.answers) {
				t.Errorf("%d requests", n)
			}
			file := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != b.String() {
				t.Errorf("%v\ngot\n%s\nwant\n%s", err, b.String(), want)
			}
		})
	}
	listing, err := source(t, newProvider(t), nil).Tools(t.Context(), all(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range listing.Tools {
		if !covered[got.Spec().Name] {
			t.Errorf("%s has no transcript", got.Spec().Name)
		}
	}
}
