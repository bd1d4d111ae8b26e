package cli_test

import (
	"encoding/base64"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// serviceLog returns an address that a service logs once it serves.
func (p *program) logged(service, what string) string {
	p.t.Helper()
	pattern := regexp.MustCompile(`"msg":"` + service + ` serves".*"` + what + `":"([^"]+)"`)
	var found []string
	testkit.Eventually(p.t, wait, func() bool {
		found = pattern.FindStringSubmatch(p.err.String())
		return found != nil
	}, "%s serves", service)
	return found[1]
}

// One binary is a pod of any kind: three of them are a cluster.
func TestServicesAlone(t *testing.T) {
	t.Parallel()
	environ := []string{
		"NATS_URL=" + testkit.NATS(t), "REDIS_URL=" + testkit.OwnRedis(t).URL(), "AUTH_MODE=trusted", "SERVICE_TOKEN=a-token-for-services",
		"GRPC_ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0", "HTTP_ADDR=127.0.0.1:0", "PEER_ADDR=127.0.0.1:0", "DRAIN_SPREAD=100ms",
	}
	registry := start(t, environ, "node-registry")
	environ = append(environ, "REGISTRY_ADDR="+registry.logged("node-registry", "grpc"))
	one, two := start(t, environ, "gateway"), start(t, environ, "gateway")
	dir := filepath.ToSlash(t.TempDir())
	environ = append(environ, "LLM=offline", "DATABASE_URL=sqlite://"+dir+"/hecaton.db", "BLOB_URL=file://"+dir+"/files",
		"SECRET_KEYS="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	orchestrator := start(t, environ, "agent-orchestrator", "--gateways", one.logged("gateway", "grpc"), "--gateways", two.logged("gateway", "grpc"))
	orchestrator.logged("agent-orchestrator", "grpc")
	user := testkit.Prefix(t)
	n := start(t, nil, "node", "--user", user, "--server", "http://"+one.logged("gateway", "http"), "--dir", t.TempDir())
	n.says("connected as node")
	code, out, err := do(t, "call", "--user", user, "--grpc", two.logged("gateway", "grpc"), "--service-token", "a-token-for-services", "list_directory")
	if code != 0 || !strings.Contains(out, "(empty)") {
		t.Errorf("%d %s %s", code, out, err)
	}
	for _, p := range []*program{n, orchestrator, two, one, registry} {
		if code := p.stop(); code != 0 {
			t.Errorf("it ends with %d: %s", code, &p.err)
		}
	}
}

func TestServiceCannotStart(t *testing.T) {
	t.Parallel()
	if code, _, err := do(t, "node-registry", "--open-services", "--grpc-addr", "256.0.0.1:0", "--admin-addr", "127.0.0.1:0"); code != 1 || err == "" {
		t.Errorf("%d %s", code, err)
	}
}
