package workspace

import (
	"mime"
	"net/http"
	"path"
	"strings"
)

// known are the types of text files that look like any other text. The system's table of types is not used, because it
// differs from machine to machine.
var known = map[string]string{
	".css":  "text/css; charset=utf-8",
	".csv":  "text/csv; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".md":   "text/markdown; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
	".xml":  "text/xml; charset=utf-8",
	".yaml": "application/yaml",
	".yml":  "application/yaml",
}

// contentType is the given type if it is valid, else the type that name and content show.
func contentType(given, name string, data []byte) string {
	if _, _, err := mime.ParseMediaType(given); err == nil {
		return given
	}
	if t, ok := known[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	return http.DetectContentType(data)
}
