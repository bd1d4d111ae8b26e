package wire

import "slices"

// The revisions of MCP that are served.
const (
	V20250326 = "2025-03-26"
	V20250618 = "2025-06-18"
	V20251125 = "2025-11-25"
	V20260728 = "2026-07-28"
)

// Stateless is the newest revision, and the first without sessions.
const Stateless = V20260728

var (
	// Older are the revisions that begin with `initialize`, the newest first.
	Older = []string{V20251125, V20250618, V20250326}
	// Supported are all revisions, the newest first.
	Supported = append([]string{Stateless}, Older...)
)

// IsStateless reports whether a version is one of those without sessions, be it served or not. Versions are dates.
func IsStateless(version string) bool { return version >= Stateless }

// Negotiate returns the version of a session whose client asks for one: that one where it is served, else the newest that has
// sessions.
func Negotiate(asked string) string {
	if slices.Contains(Older, asked) {
		return asked
	}
	return Older[0]
}
