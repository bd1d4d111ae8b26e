package store

import (
	"errors"
	"fmt"
	"strconv"
)

// errReply means that a script and the code that reads its reply do not agree.
var errReply = errors.New("unexpected reply from a Redis script")

// reply reads what a script returned, item by item. The first surprise sticks as err and makes the rest zero.
type reply struct {
	items []any
	next  int
	err   error
}

func newReply(v any) *reply {
	if items, ok := v.([]any); ok {
		return &reply{items: items}
	}
	return &reply{items: []any{v}}
}

// more tells whether there is another item.
func (r *reply) more() bool { return r.err == nil && r.next < len(r.items) }

// text takes the next item, a string.
func (r *reply) text() string {
	item := r.take()
	switch v := item.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	r.surprise(item)
	return ""
}

// number takes the next item, an integer.
func (r *reply) number() int64 {
	item := r.take()
	switch v := item.(type) {
	case int64:
		return v
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
	}
	r.surprise(item)
	return 0
}

func (r *reply) take() any {
	if !r.more() {
		return nil
	}
	r.next++
	return r.items[r.next-1]
}

func (r *reply) surprise(item any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: item %d is %T", errReply, r.next, item)
	}
}
