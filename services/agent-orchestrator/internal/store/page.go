package store

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// after is a place in a list that is sorted by time and id.
type after struct {
	at int64
	id string
}

func (a after) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%s", a.at, a.id))
}

func parseAfter(cursor string) (a after, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	at, id, _ := strings.Cut(string(text), ".")
	if err == nil {
		a.id = id
		a.at, err = strconv.ParseInt(at, 10, 64)
	}
	if err != nil || a.cursor() != cursor {
		return a, errs.New(errs.InvalidArgument, "cursor must be the next_cursor of the list's page before")
	}
	return a, nil
}

// page completes a query: the rows after a cursor, the last first, one more than a page has. It returns how many that is, without the one.
func page(condition string, args []any, at, id string, limit int, cursor string) (string, []any, int, error) {
	if limit <= 0 {
		limit = defaultPage
	}
	limit = min(limit, maxPage)
	if cursor != "" {
		a, err := parseAfter(cursor)
		if err != nil {
			return "", nil, 0, err
		}
		condition += ` AND (` + at + `, ` + id + `) < (?, ?)`
		args = append(args, a.at, a.id)
	}
	return condition + ` ORDER BY ` + at + ` DESC, ` + id + ` DESC LIMIT ?`, append(args, limit+1), limit, nil
}
