package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// kbConfig is whose knowledge bases to show or change.
type kbConfig struct {
	Server string        `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"a gateway's URL"`
	User   string        `conf:"user,required" env:"HECATON_USER" help:"whose knowledge bases"`
	Token  config.Secret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user"`
	TopK   int           `conf:"top-k" default:"5" help:"with search: how many passages"`
}

// kb shows and changes the knowledge bases of a user. A base is named by its id or its name.
func kb(ctx context.Context, e Env) error {
	var cfg kbConfig
	var words []string
	if err := e.load("kb", &cfg, &words); err != nil {
		return err
	}
	c := bases{userClient{restClient{cfg.Server, cfg.User, cfg.Token}, e}, cfg.TopK}
	switch {
	case len(words) == 0 || words[0] == "list" && len(words) == 1:
		return c.list(ctx)
	case words[0] == "list" && len(words) == 2:
		return c.documents(ctx, words[1])
	case words[0] == "add" && len(words) > 2:
		return c.add(ctx, words[1], words[2:])
	case words[0] == "search" && len(words) > 2:
		return c.search(ctx, words[1], strings.Join(words[2:], " "))
	case words[0] == "remove" && len(words) == 2:
		return c.remove(ctx, words[1])
	}
	return usage("%q: give list [BASE], add BASE FILE ..., search BASE QUERY or remove BASE", words)
}

// bases does what the words ask for.
type bases struct {
	userClient
	topK int
}

type kbView struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	DocumentCount int    `json:"documentCount"`
}

type documentView struct {
	ID           string  `json:"id"`
	FileName     string  `json:"fileName"`
	Status       string  `json:"status"`
	ChunkCount   int     `json:"chunkCount"`
	ErrorMessage string  `json:"errorMessage"`
	Progress     float64 `json:"progress"`
}

const kbPath = "/api/knowledge-base"

// all returns every base.
func (c bases) all(ctx context.Context) (list []kbView, err error) {
	for cursor := ""; ; {
		var page struct {
			Bases []kbView `json:"knowledgeBases"`
			Next  string   `json:"next_cursor"`
		}
		if err := c.get(ctx, restRequest{method: http.MethodGet, path: kbPath, query: url.Values{"limit": {"200"}, "cursor": {cursor}}}, &page); err != nil {
			return nil, err
		}
		list = append(list, page.Bases...)
		if cursor = page.Next; cursor == "" {
			return list, nil
		}
	}
}

var errNoBase = errors.New("there is no such knowledge base")

// find returns the base of an id or name.
func (c bases) find(ctx context.Context, name string) (kbView, error) {
	list, err := c.all(ctx)
	if err != nil {
		return kbView{}, err
	}
	for _, b := range list {
		if b.ID == name || b.Name == name {
			return b, nil
		}
	}
	return kbView{}, fmt.Errorf("%w: %s", errNoBase, printable(name))
}

func (c bases) list(ctx context.Context) error {
	list, err := c.all(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(c.e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tDOCUMENTS")
	for _, b := range list {
		fmt.Fprintf(table, "%s\t%s\t%d\n", printable(b.ID), printable(b.Name), b.DocumentCount)
	}
	return table.Flush()
}

func (c bases) documents(ctx context.Context, name string) error {
	b, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(c.e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tFILE\tSTATUS\tCHUNKS\tERROR")
	for cursor := ""; ; {
		var page struct {
			Documents []documentView `json:"documents"`
			Next      string         `json:"next_cursor"`
		}
		if err := c.get(ctx, restRequest{method: http.MethodGet, path: kbPath + "/" + b.ID + "/documents", query: url.Values{"limit": {"200"}, "cursor": {cursor}}}, &page); err != nil {
			return err
		}
		for _, d := range page.Documents {
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", printable(d.ID), printable(d.FileName), printable(d.Status), d.ChunkCount, shortened(d.ErrorMessage, 100))
		}
		if cursor = page.Next; cursor == "" {
			return table.Flush()
		}
	}
}

// add uploads files to a base, which is made where there is none of that name, and waits until they are processed.
func (c bases) add(ctx context.Context, name string, files []string) error {
	b, err := c.find(ctx, name)
	if errors.Is(err, errNoBase) {
		body, _ := json.Marshal(map[string]string{"name": name}) // strings always encode
		err = c.get(ctx, restRequest{method: http.MethodPost, path: kbPath, body: body}, &b)
	}
	if err != nil {
		return err
	}
	failed := 0
	for _, file := range files {
		if err := c.upload(ctx, b, file); err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed++
			c.say("%s: %v", file, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d documents were not added", failed, len(files))
	}
	return nil
}

// lookEvery is how often an upload asks how far its document is.
const lookEvery = 200 * time.Millisecond

func (c bases) upload(ctx context.Context, b kbView, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", filepath.Base(file))
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return err
	}
	var up struct {
		ID string `json:"document_id"`
	}
	at := kbPath + "/" + b.ID + "/documents"
	if err := c.get(ctx, restRequest{http.MethodPost, at, url.Values{"auto_process": {"true"}}, form.FormDataContentType(), body.Bytes()}, &up); err != nil {
		return err
	}
	for said := -1; ; {
		var d documentView
		if err := c.get(ctx, restRequest{method: http.MethodGet, path: at + "/" + url.PathEscape(up.ID)}, &d); err != nil {
			return err
		}
		switch d.Status {
		case "completed":
			c.say("%s: %d chunks", d.FileName, d.ChunkCount)
			return nil
		case "failed":
			return errors.New(d.ErrorMessage)
		}
		if percent := int(100 * d.Progress); percent >= said+10 {
			said = percent
			fmt.Fprintf(c.e.Stderr, "%s: %d %%\n", printable(d.FileName), percent)
		}
		if !sleep.For(ctx, lookEvery) {
			return context.Cause(ctx)
		}
	}
}

func (c bases) search(ctx context.Context, name, query string) error {
	b, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"query": query, "top_k": c.topK})
	if err != nil {
		return err
	}
	var found struct {
		Hits []struct {
			FileName string  `json:"file_name"`
			Content  string  `json:"content"`
			Score    float64 `json:"score"`
			Metadata struct {
				Page     *int     `json:"page"`
				Headings []string `json:"headings"`
			} `json:"metadata"`
		} `json:"hits"`
		Warnings []string `json:"warnings"`
	}
	if err := c.get(ctx, restRequest{method: http.MethodPost, path: kbPath + "/" + b.ID + "/search", body: body}, &found); err != nil {
		return err
	}
	for _, w := range found.Warnings {
		fmt.Fprintln(c.e.Stderr, printable(w))
	}
	for i, h := range found.Hits {
		place := h.FileName
		if h.Metadata.Page != nil {
			place += fmt.Sprintf(", page %d", *h.Metadata.Page)
		}
		if len(h.Metadata.Headings) > 0 {
			place += " (" + strings.Join(h.Metadata.Headings, " > ") + ")"
		}
		c.say("%d. %s, score %.4f\n%s\n", i+1, place, h.Score, h.Content)
	}
	return nil
}

func (c bases) remove(ctx context.Context, name string) error {
	b, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	if _, err := c.do(ctx, http.MethodDelete, kbPath+"/"+b.ID, nil); err != nil {
		return err
	}
	c.say("removed %s with %d documents", b.Name, b.DocumentCount)
	return nil
}
