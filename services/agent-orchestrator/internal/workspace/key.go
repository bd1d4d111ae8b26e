package workspace

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// maxPiece is the length of the longest name within a key, in bytes. A storage that is a directory adds up to 27 bytes
// (".attrs", or the time in the name of a file that is being written), and file systems allow 255.
const maxPiece = 200

// home returns the prefix of a user's keys in an area, such as "workspace".
//
// In the name of a user's directory, a-z, 0-9, - and a single _ stay as they are, and every other byte becomes =XX. So a file
// system that ignores case or normalises names changes nothing, and neither does the driver for directories, whose own escapes
// begin with __. A name that would be too long is divided over several directories, of which all but the last end with +,
// which occurs nowhere else: so no user's prefix begins with another user's prefix.
func home(user ids.UserID, area string) string {
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
	return key + rest + "/" + area + "/"
}

// mark is appended to names that have a special meaning for the storage.
const mark = "="

// encode returns a checked path as it is written in a key: unchanged, except that names that end with .attrs, .tmp or = get a
// mark, and names that are too long are divided.
func encode(path string) string { return encodeNames(path, true) }

// encodePrefix is encode for the beginning of a path, whose last name may be incomplete.
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

// divided ends each part but the last of a name that is too long. No other name ends like this: one that did has got a mark.
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

// decode is the reverse of encode. ok is false for a key that belongs to no file, such as a temporary file of a writer that died.
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
