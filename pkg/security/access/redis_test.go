package access_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// commands are such as each service uses, on keys of its own; no other service may.
var commands = map[access.Service][]string{
	access.NodeRegistry: {
		"hset hecaton:{ana}:node:desk epoch 1", "hgetall hecaton:{ana}:node:desk", "zrange hecaton:{ana}:nodes 0 -1",
		"set hecaton:{ana}:session:s desk", "get hecaton:{ana}:epoch:desk", "zadd hecaton:users 1 ana", "zrange hecaton:gateways 0 -1",
		"hgetall hecaton:gateway:g", "script load return",
	},
	access.AgentOrchestrator: {"get hecaton:{ana}:workspace:generation", "set hecaton:{ana}:workspace:g:list v EX 9 NX"},
}

// nobodys are what an attacker tries besides.
var nobodys = []string{
	"keys *", "scan 0", "flushall", "flushdb", "config get *", "config set dir /tmp", "save", "bgsave", "shutdown nosave",
	"acl list", "acl setuser x on nopass +@all ~*", "acl whoami", "client list", "client kill id 1", "monitor", "module list",
	"replicaof 127.0.0.1 1", "slaveof no one", "psync ? -1", "cluster nodes", "info", "dbsize", "randomkey", "swapdb 0 1", "migrate h 1 k 0 1",
	"eval return 0", "function list", "script flush", "script kill", "publish c m", "subscribe c", "psubscribe *", "object help",
	"get other", "set other v", "get hecaton", "get hecaton:{ana}:nodesx", "set hecaton:workspace:x v", "dump hecaton:users", "latency doctor",
	"copy hecaton:users x", "rename hecaton:users x", "memory doctor", "lolwut", "blpop x 1", "sort hecaton:users BY * GET *",
}

// The Redis that is deployed, by its own start script and users: as for the bus.
func TestDeployedRedisKeepsServicesApart(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("TEST_REQUIRE_REAL") == "1" {
			t.Fatal("TEST_REQUIRE_REAL=1, and redis-server is not on this machine")
		}
		t.Skip("redis-server is not on this machine")
	}
	passwords := setPasswords(t)
	addr := serveRedis(t)
	who := func(user, password string) *redis.Client {
		c := redis.NewClient(&redis.Options{Addr: addr, Username: user, Password: password, MaxRetries: -1, DisableIdentity: true})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	for _, c := range []*redis.Client{
		who("", ""), who("default", ""), who("default", passwords[access.NodeRegistry]), who("node-registry", "x"),
		who("node-registry", passwords[access.AgentOrchestrator]), who("gateway", passwords[access.Gateway]), who("gateway", ""),
	} {
		for _, command := range append(nobodys, append(commands[access.NodeRegistry], commands[access.AgentOrchestrator]...)...) {
			if allowed(t, c, command) {
				t.Errorf("%s may %s without its password", c.Options().Username, command)
			}
		}
	}
	for of := range commands {
		c := who(string(of), passwords[of])
		for other, list := range commands {
			for _, command := range list {
				if got := allowed(t, c, command); got != (of == other) {
					t.Errorf("%s may %s as %s does: %t", of, command, other, got)
				}
			}
		}
		for _, command := range nobodys {
			if allowed(t, c, command) {
				t.Errorf("%s may %s", of, command)
			}
		}
		// What a script does counts as if it were done without one.
		admin := "return redis.call('FLUSHALL')"
		if c.ScriptLoad(t.Context(), admin).Err() == nil {
			if err := c.EvalSha(t.Context(), redis.NewScript(admin).Hash(), nil).Err(); err == nil || !strings.Contains(err.Error(), "can't run this command") {
				t.Errorf("%s empties Redis by a script: %v", of, err)
			}
		}
	}
}

// allowed reports whether Redis would do it: that it does not succeed for another reason is no matter.
func allowed(t *testing.T, c *redis.Client, command string) bool {
	t.Helper()
	var args []any
	for _, word := range strings.Fields(command) {
		args = append(args, word)
	}
	err := c.Do(t.Context(), args...).Err()
	if err == nil {
		return true
	}
	for _, no := range []string{"NOPERM", "NOAUTH", "WRONGPASS"} {
		if strings.Contains(err.Error(), no) {
			return false
		}
	}
	return redis.HasErrorPrefix(err, "") || strings.HasPrefix(err.Error(), "ERR") || errors.Is(err, redis.Nil)
}

// serveRedis starts the Redis that is deployed.
func serveRedis(t *testing.T) string {
	t.Helper()
	port := strconv.Itoa(testkit.FreePort())
	users, err := filepath.Abs(filepath.Join(deployed, access.RedisFile))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(deployed, "redis.sh"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.ReplaceAll(string(script), "/tmp/", dir+"/")
	server := exec.Command("sh", "-c", text, "redis.sh", users, "--port", port, "--bind", "127.0.0.1")
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // killed, as asked
	})
	addr := "127.0.0.1:" + port
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer c.Close()
	testkit.Eventually(t, 10*time.Second, func() bool {
		err := c.Ping(t.Context()).Err()
		return err != nil && strings.Contains(err.Error(), "NOAUTH")
	}, "Redis serves, and asks who is there")
	return addr
}
