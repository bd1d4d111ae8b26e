package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/cli"
)

// desk runs a desktop node with a file to read.
func desk(t *testing.T, server, user, id string) *program {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("on "+id), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, "node", "--server", server, "--user", user, "--node-id", id, "--dir", dir, "--tools", "read_file,write_file")
	p.says("connected as node")
	return p
}

// A session begun through one gateway goes on through the other, with what was decided in between.
func TestChatOnCluster(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	user := testkit.Prefix(t)
	servers := []string{"http://" + c.Gateways[0].HTTP, "http://" + c.Gateways[1].HTTP}
	desk(t, servers[0], user, "desk")
	say := func(server, stdin, message string, flags ...string) (int, string) {
		args := append([]string{"chat", "--server", server, "--user", user, "--session", "s-" + user, "-m", message}, flags...)
		p := startEnv(t, cli.Env{Stdin: strings.NewReader(stdin), Args: args})
		return p.wait(), p.out.String() + p.err.String()
	}
	code, said := say(servers[1], "", "read the file a.txt")
	if code != 0 || !strings.Contains(said, "← read_file\n  | on desk\n") {
		t.Errorf("%d %s", code, said)
	}
	// Nobody decides; another one does, elsewhere.
	code, said = say(servers[0], "", "read the file a.txt", "--ask-for", "read_file")
	if code != 5 || !strings.Contains(said, "? read_file wants to run on desk") {
		t.Errorf("%d %s", code, said)
	}
	p := startEnv(t, cli.Env{
		Stdin: strings.NewReader("n not now\nread the file a.txt\n"),
		Args:  []string{"chat", "--server", servers[1], "--user", user, "--session", "s-" + user},
	})
	if code := p.wait(); code != 0 || !p.has("This session waits for a decision.", "← rejected read_file", "  | on desk") {
		t.Errorf("%d %s%s", code, &p.out, &p.err)
	}
	code, said = say(servers[0], "e {\"path\":\"b.txt\"}\n", "read the file a.txt", "--ask-for", "read_file")
	if code != 0 || !strings.Contains(said, "b.txt") || strings.Contains(said, "on desk\n") {
		t.Errorf("%d %s", code, said)
	}
	// Another user has no such session.
	q := startEnv(t, cli.Env{Args: []string{"chat", "--server", servers[0], "--user", user + "2", "--session", "s-" + user}})
	if code := q.wait(); code != 0 || q.out.String() != "" {
		t.Errorf("%d %s%s", code, &q.out, &q.err)
	}
}

func TestChatChoosesOnCluster(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	user := testkit.Prefix(t)
	server := "http://" + c.Gateways[0].HTTP
	desk(t, server, user, "one")
	desk(t, "http://"+c.Gateways[1].HTTP, user, "two")
	p := startEnv(t, cli.Env{Stdin: strings.NewReader("two\n"), Args: []string{"chat", "--server", server, "--user", user, "-m", "read the file a.txt"}})
	if code := p.wait(); code != 0 || !p.has("which one?", "on two") {
		t.Errorf("%d %s%s", code, &p.out, &p.err)
	}
	p = startEnv(t, cli.Env{Args: []string{"chat", "--server", server, "--user", user, "--node", "one", "-m", "read the file a.txt"}})
	if code := p.wait(); code != 0 || !p.has("on one") {
		t.Errorf("%d %s%s", code, &p.out, &p.err)
	}
}
