package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const notionText = `"content":{"type":"string","description":"Plain text; an empty line begins a new paragraph"}`

var notionActions = []action{
	reads("notion_search", "Searches the pages and databases that the user has shared at Notion, by title.",
		`{"query":{"type":"string"},"page_size":{"type":"integer","description":"At most 100; 20 where it is left out"}}`, []string{"query"}, notionSearch),
	reads("notion_get_page", "Reads a page of Notion: its properties and its text.",
		`{"page_id":{"type":"string"}}`, []string{"page_id"}, notionGet),
	reads("notion_query_database", "Lists pages of a database of Notion, filtered and sorted as Notion's API has it.",
		`{"database_id":{"type":"string"},"filter":{"type":"object"},"sorts":{"type":"array","items":{"type":"object"}},"page_size":{"type":"integer","description":"At most 100; 20 where it is left out"},"start_cursor":{"type":"string"}}`,
		[]string{"database_id"}, notionQuery),
	writes("notion_create_page", "Creates a page of Notion under another page.",
		`{"parent_page_id":{"type":"string"},"title":{"type":"string"},`+notionText+`}`, []string{"parent_page_id", "title"}, notionCreate),
	writes("notion_append", "Appends text to a page of Notion.",
		`{"page_id":{"type":"string"},`+notionText+`}`, []string{"page_id", "content"}, notionAppend),
}

// notionPage is a page or database. Its owner decides which properties it has.
type notionPage struct {
	Object     string          `json:"object"`
	ID         string          `json:"id"`
	URL        string          `json:"url"`
	Edited     string          `json:"last_edited_time,omitempty"`
	Title      json.RawMessage `json:"title,omitempty"` // of a database
	Properties json.RawMessage `json:"properties,omitempty"`
}

type notionList struct {
	Results []notionPage `json:"results"`
	Cursor  string       `json:"next_cursor,omitempty"`
}

func notionSearch(ctx context.Context, c *client, in struct {
	Query string `json:"query"`
	Size  int    `json:"page_size"`
},
) (tool.Result, error) {
	return notionFind(ctx, c, "/v1/search", map[string]any{"query": in.Query, "page_size": within(in.Size, 20, 100)})
}

func notionQuery(ctx context.Context, c *client, in struct {
	Database string          `json:"database_id"`
	Filter   json.RawMessage `json:"filter"`
	Sorts    json.RawMessage `json:"sorts"`
	Size     int             `json:"page_size"`
	Cursor   string          `json:"start_cursor"`
},
) (tool.Result, error) {
	address, err := under("/v1/databases", in.Database)
	if err != nil {
		return tool.Result{}, err
	}
	body := map[string]any{"page_size": within(in.Size, 20, 100)}
	for name, value := range map[string]json.RawMessage{"filter": in.Filter, "sorts": in.Sorts} {
		if len(value) > 0 && string(value) != "null" {
			body[name] = value
		}
	}
	if in.Cursor != "" {
		body["start_cursor"] = in.Cursor
	}
	return notionFind(ctx, c, address+"/query", body)
}

func notionFind(ctx context.Context, c *client, where string, body any) (tool.Result, error) {
	r, err := c.send(ctx, http.MethodPost, where, body)
	if err != nil {
		return tool.Result{}, err
	}
	var found notionList
	err = r.decode(&found)
	return show(found), err
}

// notionRich is a piece of text in Notion's form.
type notionRich struct {
	Type  string            `json:"type,omitempty"`
	Text  map[string]string `json:"text,omitempty"`
	Plain string            `json:"plain_text,omitempty"`
}

func notionGet(ctx context.Context, c *client, in struct {
	ID string `json:"page_id"`
},
) (tool.Result, error) {
	page, err := under("/v1/pages", in.ID)
	if err != nil {
		return tool.Result{}, err
	}
	r, err := c.get(ctx, page, nil)
	if err != nil {
		return tool.Result{}, err
	}
	var got struct {
		notionPage
		Content string `json:"content"`
		More    bool   `json:"content_continues,omitempty"`
	}
	if err := r.decode(&got.notionPage); err != nil {
		return tool.Result{}, err
	}
	children, err := under("/v1/blocks", in.ID, "children")
	if err != nil {
		return tool.Result{}, err
	}
	if r, err = c.get(ctx, children, query("page_size", "100")); err != nil {
		return tool.Result{}, err
	}
	var blocks struct {
		Results []map[string]json.RawMessage `json:"results"`
		More    bool                         `json:"has_more"`
	}
	err = r.decode(&blocks)
	got.Content, got.More = notionPlain(blocks.Results), blocks.More
	return show(got), err
}

// notionPlain is the text of blocks, a line each. Each block has its text under the name of its type.
func notionPlain(blocks []map[string]json.RawMessage) string {
	var lines []string
	for _, b := range blocks {
		var kind string
		var inner struct {
			Rich []notionRich `json:"rich_text"`
		}
		if json.Unmarshal(b["type"], &kind) != nil || json.Unmarshal(b[kind], &inner) != nil {
			continue // a kind without text
		}
		var line strings.Builder
		for _, piece := range inner.Rich {
			line.WriteString(piece.Plain)
		}
		lines = append(lines, line.String())
	}
	return strings.Join(lines, "\n")
}

func notionCreate(ctx context.Context, c *client, in struct {
	Parent  string `json:"parent_page_id"`
	Title   string `json:"title"`
	Content string `json:"content"`
},
) (tool.Result, error) {
	children, err := notionParagraphs(in.Content)
	if err != nil {
		return tool.Result{}, err
	}
	body := map[string]any{
		"parent":     map[string]string{"page_id": in.Parent},
		"properties": map[string]any{"title": map[string]any{"title": notionPieces(in.Title)}},
	}
	if len(children) > 0 {
		body["children"] = children
	}
	r, err := c.send(ctx, http.MethodPost, "/v1/pages", body)
	if err != nil {
		return tool.Result{}, err
	}
	var made notionPage
	err = r.decode(&made)
	made.Properties = nil
	return show(made), err
}

func notionAppend(ctx context.Context, c *client, in struct {
	Page    string `json:"page_id"`
	Content string `json:"content"`
},
) (tool.Result, error) {
	address, err := under("/v1/blocks", in.Page, "children")
	if err != nil {
		return tool.Result{}, err
	}
	children, err := notionParagraphs(in.Content)
	if err != nil {
		return tool.Result{}, err
	}
	if _, err := c.send(ctx, http.MethodPatch, address, map[string]any{"children": children}); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: "Appended."}, nil
}

// Notion's limits: blocks of a request, characters of a piece of text.
const notionBlocks, notionChars = 100, 2000

func notionParagraphs(content string) ([]any, error) {
	var blocks []any
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(content, "\r\n", "\n"), "\n\n") {
		if paragraph = strings.Trim(paragraph, "\n"); paragraph != "" {
			blocks = append(blocks, map[string]any{
				"object": "block", "type": "paragraph", "paragraph": map[string]any{"rich_text": notionPieces(paragraph)},
			})
		}
	}
	if len(blocks) > notionBlocks {
		return nil, invalid("arguments.content has more than 100 paragraphs; append it in parts")
	}
	return blocks, nil
}

func notionPieces(text string) []notionRich {
	pieces := []notionRich{}
	for runes := []rune(text); len(runes) > 0; {
		n := min(len(runes), notionChars)
		pieces = append(pieces, notionRich{Type: "text", Text: map[string]string{"content": string(runes[:n])}})
		runes = runes[n:]
	}
	return pieces
}
