package redisclient_test

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/redisclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

func ping(t *testing.T, url string, files tlsfiles.Config) error {
	t.Helper()
	c, err := redisclient.Open(url, files)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Ping(t.Context()).Err()
}

func TestTLS(t *testing.T) {
	t.Parallel()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("TEST_REQUIRE_REAL") == "1" {
			t.Fatal("TEST_REQUIRE_REAL=1, and redis-server is not on this machine")
		}
		t.Skip("redis-server is not on this machine")
	}
	ca, other := testkit.NewAuthority(t), testkit.NewAuthority(t)
	server, good, foreign := ca.Issue("redis"), ca.Issue("node-registry"), other.Issue("node-registry")
	port := strconv.Itoa(testkit.FreePort())
	cmd := exec.Command(bin, "--port", "0", "--tls-port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "",
		"--tls-cert-file", server.Cert, "--tls-key-file", server.Key, "--tls-ca-cert-file", server.CA, "--user", "default", "on", ">word", "~*", "+@all")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, as asked
	})
	url := "rediss://:word@127.0.0.1:" + port
	testkit.Eventually(t, 10*time.Second, func() bool { return ping(t, url, good) == nil }, "Redis serves over TLS")
	for name, files := range map[string]tlsfiles.Config{
		"the system's authorities": {Cert: good.Cert, Key: good.Key},
		"no certificate":           {CA: good.CA},
		"a server of another":      {CA: foreign.CA, Cert: good.Cert, Key: good.Key},
		"a certificate of others":  {CA: good.CA, Cert: foreign.Cert, Key: foreign.Key},
		"another server's name":    {CA: good.CA, Cert: good.Cert, Key: good.Key, ServerName: "nats"},
		"a lone certificate":       {CA: good.CA, Cert: good.Cert},
		"a file that is not":       {CA: good.CA + ".none"},
	} {
		if err := ping(t, url, files); err == nil {
			t.Errorf("%s: it answers", name)
		}
	}
	good.ServerName = "redis"
	if err := ping(t, url, good); err != nil {
		t.Errorf("the server's name: %v", err)
	}
	if err := ping(t, "redis://:word@127.0.0.1:"+port, good); err == nil {
		t.Error("files for TLS are given, and it talks in clear")
	}
	// A client that is there already reads what was renewed.
	c, err := redisclient.Open(url, good)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	testkit.Replace(t, good.CA, foreign.CA)
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Error("the authority was replaced, and the server of the old one is believed")
	}
}
