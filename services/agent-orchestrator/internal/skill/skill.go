package skill

import (
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Where a skill came from.
const (
	Bundled = "bundled" // with the server
	Upload  = "upload"  // by REST
	Local   = "local"   // found in the storage
	Hub     = "hub"
	Remote  = "remote"
)

// Sources are all of them.
var Sources = []string{Bundled, Upload, Local, Hub, Remote}

// Main is the file that makes a folder a skill.
const Main = "SKILL.md"

// Limits of one skill.
const (
	maxName        = 64       // characters
	maxDescription = 1024     // characters
	maxFiles       = 200      // with SKILL.md
	MaxBytes       = 10 << 20 // in all
	maxFront       = 64 << 10 // bytes of front matter
	maxWords       = 200      // tags or triggers
	maxWord        = 200      // characters of one
	maxShort       = 256      // characters of version and author
)

// Skill is a skill without its text.
type Skill struct {
	About
	Enabled  bool
	Priority int
	Source   string
	Updated  time.Time
	// Files are all of the folder but SKILL.md, by path.
	Files []File
	// Size is how many bytes SKILL.md has.
	Size int
}

// About is what the front matter says, as it is stored.
type About struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Version     string         `json:"version"`
	Author      string         `json:"author,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	Triggers    []string       `json:"triggers,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"` // of the keys that are not known: JSON values
}

// File is a file of a skill's folder.
type File struct {
	Path string `json:"path"`
	Size int    `json:"size"`
	// Sum is the SHA-256 of its bytes, in hex.
	Sum string `json:"sum"`
}

// bytes is how large the whole folder is.
func (s *Skill) bytes() int64 {
	size := int64(s.Size)
	for _, f := range s.Files {
		size += int64(f.Size)
	}
	return size
}

// needs are the types of nodes of which one must be connected for the skill to be of use; none for most skills.
func (s *Skill) needs() (types []string) {
	for _, kind := range []string{"extension", "desktop"} {
		if slices.Contains(s.Tags, "connector:"+kind) {
			types = append(types, kind)
		}
	}
	return types
}

// Fits reports whether the skill is of use with nodes of these types.
func (s *Skill) Fits(connected []string) bool {
	needs := s.needs()
	return len(needs) == 0 || slices.ContainsFunc(needs, func(kind string) bool { return slices.Contains(connected, kind) })
}

// ValidName reports whether a skill may have a name: 1 to 64 letters of English, digits, - and _.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

func notFound(name string) error {
	return errs.New(errs.SkillNotFound, "there is no skill %q", cut(name))
}

// cut shortens what a caller wrote, for an error.
func cut(text string) string {
	if len(text) > 100 {
		return text[:100] + "…"
	}
	return text
}

// invalid is a skill that cannot be read.
func invalid(format string, args ...any) *errs.Error {
	return errs.New(errs.SkillInvalid, format, args...)
}
