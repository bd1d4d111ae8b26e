package access_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"gopkg.in/yaml.v3"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// What each service publishes and hears, of what package bus names; nobody else may.
var (
	node    = ids.Node{User: "ana", Node: "her desk"}
	gateway = ids.GatewayID("gateway-0.x")
	on      = bus.NodePrefix(node)

	publishes = map[access.Service][]string{
		access.Gateway: {
			on + bus.SuffixCall, on + bus.SuffixControl, bus.GatewaysSubject, bus.GatewaySubject(gateway), bus.WebSubject("ana"),
			bus.ReplyPrefix(gateway) + "1z", bus.IntakePrefix(gateway) + "7", bus.PeerSubject(gateway), "_INBOX_gateway.a.b",
		},
		access.NodeRegistry:      {bus.NodeEventSubject("ana")},
		access.AgentOrchestrator: {bus.AgentSubject("ana", "s"), bus.CancelSubject("ana", "s"), bus.RevokedSubject("t"), bus.SavedSubject("ana"), bus.WebSubject("ana"), bus.FollowsSubject},
		access.Knowledge:         {bus.WebSubject("ana")},
	}
	hears = map[access.Service][]string{
		access.Gateway: {
			on + bus.SuffixCall + " " + bus.HolderQueue, on + bus.SuffixControl, bus.GatewaysSubject, bus.GatewaySubject(gateway),
			bus.WebSubject("ana"), bus.ReplyPrefix(gateway) + "*", bus.IntakePrefix(gateway) + "*",
			bus.PeerSubject(gateway), bus.NodeEventSubject("ana"), bus.AllNodeEvents, bus.AllRevoked, "_INBOX_gateway.a.*",
		},
		access.NodeRegistry:      {bus.NodeEventSubject("ana"), bus.AllNodeEvents},
		access.AgentOrchestrator: {bus.AgentSubject("ana", "s"), bus.AllCancels, bus.AllSaved, bus.FollowsSubject},
	}
	// everybodys are what an attacker tries besides.
	everybodys = []string{
		">", "*", "hecaton.>", "hecaton.node.>", "hecaton.*.ana.>", "hecaton.node.*.*.*", "hecaton.node.*.*.call", "hecaton.reply.>",
		"hecaton.event.>", "hecaton.agent.>", "hecaton.cancel.>", "hecaton.new.a", "_INBOX.>", "_INBOX.a.b", "$SYS.>", "$SYS.REQ.SERVER.PING",
		"$JS.API.INFO", "_R_.>", "_INBOX_gateway", "hecaton", "hecaton.node.ana.desk.call.more",
	}
)

// Each server that is deployed, by its own configuration: each service may do what it does, nothing that another does, and
// nothing else; who shows nothing, or another's password, is not let in at all.
func TestDeployedBusKeepsServicesApart(t *testing.T) {
	passwords := setPasswords(t)
	for name, dir := range map[string]string{"compose": composeConfig(t), "kubernetes": chartConfig(t, "hecaton.yaml"), "trial": chartConfig(t, "hecaton-trial.yaml")} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, filepath.Join(dir, "nats.conf"))
			for _, url := range []string{"nats://", "nats://gateway:x@", "nats://gateway:" + passwords[access.NodeRegistry] + "@", "nats://route:" + os.Getenv("NATS_ROUTE_PASSWORD") + "@", "nats://nobody:@"} {
				if nc, err := nats.Connect(url + s.Addr().String()); err == nil {
					nc.Close()
					t.Errorf("%s is let in", url)
				}
			}
			for _, service := range access.Services {
				mayAndMayNot(t, s, service, passwords[service])
			}
		})
	}
}

func mayAndMayNot(t *testing.T, s *server.Server, service access.Service, password string) {
	t.Helper()
	nc, err := nats.Connect("nats://" + string(service) + ":" + password + "@" + s.Addr().String())
	if err != nil {
		t.Fatalf("%s: %v", service, err)
	}
	defer nc.Close()
	may := func(what string, try func() error) bool {
		before := nc.LastError()
		if err := errors.Join(try(), nc.FlushTimeout(10*time.Second)); err != nil {
			t.Fatalf("%s: %s: %v", service, what, err)
		}
		said := nc.LastError() // before the answer to the flush
		nothing := errors.Is(said, before)
		if !nothing && !errors.Is(said, nats.ErrPermissionViolation) {
			t.Fatalf("%s: %s: %v", service, what, said)
		}
		return nothing
	}
	publish := func(subject string) bool {
		return may("publish "+subject, func() error { return nc.Publish(subject, []byte("{}")) })
	}
	hear := func(subject string) bool {
		return may("hear "+subject, func() (err error) {
			name, queue, _ := strings.Cut(subject, " ")
			sub, err := nc.QueueSubscribeSync(name, queue)
			if err == nil {
				t.Cleanup(func() { _ = sub.Unsubscribe() })
			}
			return err
		})
	}
	for _, of := range access.Services {
		for _, subject := range publishes[of] {
			if got := publish(subject); got != slices.Contains(publishes[service], subject) {
				t.Errorf("%s may publish what %s does, %s: %t", service, of, subject, got)
			}
		}
		for _, subject := range hears[of] {
			if got := hear(subject); got != slices.Contains(hears[service], subject) {
				t.Errorf("%s may hear what %s does, %s: %t", service, of, subject, got)
			}
		}
	}
	for _, subject := range everybodys {
		if !strings.ContainsAny(subject, "*>") && publish(subject) {
			t.Errorf("%s may publish %s", service, subject)
		}
		if hear(subject) {
			t.Errorf("%s may hear %s", service, subject)
		}
	}
	if service == access.Gateway && hear(on+bus.SuffixCall+" another") {
		t.Error("a gateway may take calls past the queue group")
	}
}

// setPasswords puts them where the configurations look for them: such as "openssl rand -hex" makes them, with a letter first.
func setPasswords(t *testing.T) access.Passwords {
	t.Helper()
	passwords := access.Passwords{}
	for i, s := range access.Services {
		passwords[s] = "k0" + strings.Repeat(string(rune('1'+i)), 20) + "e5"
		t.Setenv("NATS_"+s.Variable()+"_PASSWORD", passwords[s])
		t.Setenv("REDIS_"+s.Variable()+"_PASSWORD", passwords[s])
	}
	t.Setenv("NATS_ROUTE_PASSWORD", "k0route")
	t.Setenv("NATS_ROUTES", "[nats://route:k0route@nats-0.x:6222,nats://route:k0route@nats-1.x:6222]")
	t.Setenv("POD_NAME", "nats-0")
	return passwords
}

// serve starts a server of a configuration, alone and on another port.
func serve(t *testing.T, file string) *server.Server {
	t.Helper()
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if o.Cluster.Port != 0 && (o.Cluster.Username != "route" || o.Cluster.Password != "k0route") {
		t.Error("whoever reaches the servers' own port is taken for a server")
	}
	for _, route := range o.Routes {
		if password, _ := route.User.Password(); password != "k0route" {
			t.Errorf("route %s has no password", route)
		}
	}
	o.Host, o.Port, o.HTTPPort, o.Cluster, o.Routes, o.NoSigs, o.NoLog, o.PidFile = "127.0.0.1", -1, 0, server.ClusterOpts{}, nil, true, true, ""
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("it does not start")
	}
	return s
}

// composeConfig lays the files out as docker-compose.yml mounts them.
func composeConfig(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{"../../../deploy/compose/nats.conf": "nats.conf", filepath.Join(deployed, access.NATSFile): access.NATSFile} {
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// chartConfig writes the files of the ConfigMap that manifests have for NATS.
func chartConfig(t *testing.T, manifests string) string {
	t.Helper()
	dir := t.TempDir()
	file, err := os.Open("../../../deploy/kubernetes/" + manifests)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for docs := yaml.NewDecoder(file); ; {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
			Data     map[string]string
		}
		if err := docs.Decode(&object); err != nil {
			t.Fatalf("no configuration of NATS: %v", err)
		}
		if object.Kind != "ConfigMap" || object.Metadata.Name != "hecaton-nats" {
			continue
		}
		for name, text := range object.Data {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
}
