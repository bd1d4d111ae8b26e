package workspace

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// maxPiece is the longest name that a key has in the storage, in bytes: where the storage is a directory, up to 27 more come
// to it (".attrs", or the time in the name of a file that is being written), and 255 are allowed.
const maxPiece = 200

// home returns the prefix of a user's keys.
//
// In the name of a user's directory stand a-z, 0-9, - and a single _ for themselves, and every other byte as =XX: a file
// system that folds cases or normalises finds nothing to fold, and the driver for directories, whose own escapes begin with
// __, nothing to escape. An id whose name would be too long is divided over several directories,
// of which all but the last end with +, which no name holds otherwise: no user's prefix begins with another's.
func home(user ids.UserID) string {
	var name strings.Builder
	for i := range len(user) {
		c := user[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' && (i == 0 || user[i-1] != '_') {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "=%02x", c)
		}
	}
	rest, key := name.String(), "users/"
	for len(rest) > maxPiece {
		key, rest = key+rest[:maxPiece]+"+/", rest[maxPiece:]
	}
	return key + rest + "/workspace/"
}

// mark ends names that would mean something else to the storage.
const mark = "="

// encode returns a checked path as it stands in a key: as it is, but for names that end with .attrs, .tmp or =, which get a
// mark, and names that are too long, which are divided.
func encode(path string) string { return encodeNames(path, true) }

// encodePrefix is encode for the beginning of a path: its last name may go on.
func encodePrefix(prefix string) string { return encodeNames(prefix, strings.HasSuffix(prefix, "/")) }

func encodeNames(path string, whole bool) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		last := i == len(names)-1
		if lower := strings.ToLower(name); (whole || !last) && (strings.HasSuffix(lower, ".attrs") ||
			strings.HasSuffix(lower, ".tmp") || strings.HasSuffix(name, mark)) {
			name += mark
		}
		names[i] = divide(name)
	}
	return strings.Join(names, "/")
}

// divided ends the first part of a name that is too long. No other name ends like this: one that did got a mark.
const divided = "+="

func divide(name string) string {
	if len(name) <= maxPiece {
		return name
	}
	cut := maxPiece
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + divided + "/" + name[cut:]
}

// decode is the reverse of encode. ok is false for a key that is no file's: what a writer that died has left.
func decode(key string) (path string, ok bool) {
	key = strings.ReplaceAll(key, divided+"/", "\x00")
	names := strings.Split(key, "/")
	for i, name := range names {
		if strings.HasSuffix(strings.ToLower(name), ".tmp") {
			return "", false
		}
		name = strings.ReplaceAll(name, "\x00", "")
		names[i] = strings.TrimSuffix(name, mark)
	}
	return strings.Join(names, "/"), true
}
