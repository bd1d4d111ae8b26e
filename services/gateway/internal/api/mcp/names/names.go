package names

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// MaxBytes is the length of the longest name.
const MaxBytes = 60

// separator stands between the parts of a long name, and in no short one.
const separator = "__"

// The parts of a name that ends with a hash: 24 + 2 + 20 + 2 + 12 bytes.
const nodeBytes, toolBytes, hashBytes = 24, 20, 12

// Long returns the name of a device's tool that needs no claim: `<node>__<tool>`, where the two are clean and short enough, else
// `<node>__<tool>__<hash>` with what is left of them. Different tools have different names.
func Long(node ids.NodeID, tool string) string {
	n := string(node)
	if plain(n) && plain(tool) && !strings.HasSuffix(n, "_") && !strings.HasPrefix(tool, "_") && len(n)+len(separator)+len(tool) <= MaxBytes {
		return n + separator + tool
	}
	return hashed(n, tool, n+"\x00"+tool)
}

// second is the long name of a device's tool whose first one is a service's.
func second(node ids.NodeID, tool string) string {
	return hashed(string(node), tool, string(node)+"\x00"+tool+"\x00") // no tool's name has such an end
}

// hashed returns a name of two readable parts and a hash of what it stands for.
func hashed(owner, tool, of string) string {
	sum := sha256.Sum256([]byte(of))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:hashBytes])
	return clean(owner, nodeBytes) + separator + clean(tool, toolBytes) + separator + hash
}

// Short reports whether a tool's own name may be its name for clients: those of Hecaton's own tools may not.
func Short(tool string) bool { return plain(tool) && len(tool) <= MaxBytes && !reserved(tool) }

// IsLong reports whether a name has the form of a long one.
func IsLong(name string) bool { return strings.Contains(name, separator) }

// plain reports whether a name has only what clients take, and no separator.
func plain(name string) bool {
	return name != "" && !strings.Contains(name, separator) && !strings.ContainsFunc(name, unclean)
}

func unclean(r rune) bool {
	return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// clean returns at most so many bytes of what a name has of letters, digits and dashes; something, in any case.
func clean(name string, most int) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || unclean(r) })
	name = strings.Join(parts, "_")
	name = strings.TrimRight(name[:min(most, len(name))], "_")
	if name == "" {
		return "x"
	}
	return name
}

// own are the names of Hecaton's own tools, present and to come.
var own = map[string]bool{
	"devices": true, "find_tools": true, "call_tool": true, "run_agent": true, "list_workflows": true, "hitl_prompt": true,
	"desktop_exec": true, "browser_read": true,
}

func reserved(name string) bool { return own[name] || strings.HasPrefix(name, "workflow_") }
