package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxTools bounds what one server offers: of tools, and of prompts.
	maxTools = 512
	// maxPages bounds the pages of one list, and maxListed its size, in bytes with what the values take.
	maxPages  = 64
	maxListed = 64 << 20
)

// ask puts a question that changes nothing: once more on a new connection if an old one may be over. The error is an *Error.
func (s *server) ask(ctx context.Context, limit int64, question func(context.Context, *session, *flight) error) error {
	for {
		sess, fresh, err := s.acquire(ctx)
		if err != nil {
			return err
		}
		f := s.newFlight()
		f.limit = limit
		err = question(f.attach(ctx), sess, f)
		if err != nil && !answered(f, err) && !errors.Is(ctx.Err(), context.Canceled) {
			s.leave(sess)
		}
		s.release(sess)
		switch {
		case err == nil:
			return nil
		case fresh || answered(f, err) || ctx.Err() != nil || f.overflowed():
			return explain(ctx, f, err)
		}
	}
}

// answered reports whether an error is the server's own, on a connection that works.
func answered(f *flight, err error) bool {
	var rpc *jsonrpc.Error
	var ours *Error
	status, _ := f.seen()
	return errors.As(err, &ours) || errors.As(err, &rpc) && (status/100 == 2 || !f.http)
}

// listTools returns the server's tools, at most maxTools: those that it listed before, while it lets them be remembered.
func (s *server) listTools(ctx context.Context) (list []*sdk.Tool, err error) {
	known, ok, changes := recall(s, &s.memory.tools)
	if ok {
		return known, nil
	}
	err = s.ask(ctx, maxListed, func(ctx context.Context, sess *session, f *flight) (err error) {
		if caps := sess.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
			return nil
		}
		list, err = pages(func(cursor string) ([]*sdk.Tool, string, error) {
			got, err := sess.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return got.Tools, got.NextCursor, nil
		})
		if err == nil {
			remember(s, &s.memory.tools, changes, list, f)
		}
		return err
	})
	return list, err
}

// listPrompts is listTools for prompts.
func (s *server) listPrompts(ctx context.Context) (list []*sdk.Prompt, err error) {
	known, ok, changes := recall(s, &s.memory.prompts)
	if ok {
		return known, nil
	}
	err = s.ask(ctx, maxListed, func(ctx context.Context, sess *session, f *flight) (err error) {
		if caps := sess.InitializeResult().Capabilities; caps == nil || caps.Prompts == nil {
			return nil
		}
		list, err = pages(func(cursor string) ([]*sdk.Prompt, string, error) {
			got, err := sess.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return got.Prompts, got.NextCursor, nil
		})
		if err == nil {
			remember(s, &s.memory.prompts, changes, list, f)
		}
		return err
	})
	return list, err
}

// pages reads a list page by page, to its end or to maxTools.
func pages[T any](page func(cursor string) (list []*T, next string, err error)) (all []*T, err error) {
	all = []*T{}
	seen := map[string]bool{}
	for cursor := ""; ; {
		list, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		for _, item := range list {
			if item == nil {
				continue
			}
			if all = append(all, item); len(all) == maxTools {
				return all, nil
			}
		}
		switch {
		case next == "":
			return all, nil
		case seen[next]:
			return nil, &Error{Kind: Protocol, Message: "its list goes in a circle"}
		case len(seen) == maxPages-1:
			return nil, &Error{Kind: TooMuch, Message: "its list has too many pages"}
		}
		seen[next], cursor = true, next
	}
}
