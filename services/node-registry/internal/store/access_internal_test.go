package store

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
)

// What the registry may do in Redis is what it does: a command or a key more or less is found here, and not where it is
// deployed.
func TestRedisAllowsWhatTheStoreDoes(t *testing.T) {
	t.Parallel()
	// Those beside the scripts, and what the client says of itself.
	used := map[string]bool{
		"evalsha": true, "script|load": true, "zrange": true, "hgetall": true, "ping": true,
		"cluster|slots": true, "command": true, "asking": true,
	}
	err := fs.WalkDir(luaFiles, "lua", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := luaFiles.ReadFile(file)
		for _, call := range regexp.MustCompile(`redis\.p?call\(\s*'(\w+)'`).FindAllSubmatch(text, -1) {
			used[strings.ToLower(string(call[1]))] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	allowed := access.NodeRegistry.Redis()
	for command := range used {
		if !slices.Contains(allowed.Commands, command) {
			t.Errorf("%s is not allowed", command)
		}
	}
	for _, command := range allowed.Commands {
		if !used[command] {
			t.Errorf("%s is allowed and not used", command)
		}
	}
	keys := keysOf("a user: {*}")
	matched := map[string]bool{}
	for _, key := range []string{
		keys.nodes(), keys.last(), keys.gone(), keys.tools(), keys.use(), keys.node("n/1:*"), keys.epoch("n}"), keys.session("s"), usersKey, gatewaysKey, gatewayKey("g"), heldKey("g"),
	} {
		pattern := slices.IndexFunc(allowed.Keys, func(pattern string) bool {
			ok, err := path.Match(pattern, key) // ids have no slash in keys: they are escaped
			return ok && err == nil
		})
		if pattern < 0 {
			t.Errorf("%s is not allowed", key)
			continue
		}
		matched[allowed.Keys[pattern]] = true
	}
	for _, pattern := range allowed.Keys {
		if !matched[pattern] {
			t.Errorf("keys %s are allowed and not used", pattern)
		}
	}
}
