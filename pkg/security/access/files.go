package access

import (
	"fmt"
	"strings"
)

// The names of [Files].
const (
	NATSFile  = "nats-users.conf"
	RedisFile = "redis-users.acl"
)

// Files returns the configurations of the servers that are deployed, by the names of their files. Passwords are variables
// of the environment, such as NATS_GATEWAY_PASSWORD and REDIS_GATEWAY_PASSWORD: NATS reads them by itself, in the file for
// Redis a shell puts them in.
func Files() map[string]string {
	return map[string]string{NATSFile: natsUsers(), RedisFile: redisUsers()}
}

func natsUsers() string {
	var b strings.Builder
	b.WriteString("# Who may publish and hear what: made of package access by \"make manifests\".\nauthorization {\n  timeout: 5\n  users: [\n")
	for _, s := range Services {
		bus := s.Bus()
		fmt.Fprintf(&b, "    {\n      user: %s\n      password: $NATS_%s_PASSWORD\n      permissions: {\n", s, s.Variable())
		fmt.Fprintf(&b, "        publish: {allow: [%s]}\n", quoted(bus.Publish))
		fmt.Fprintf(&b, "        subscribe: {allow: [%s]}\n      }\n    }\n", quoted(bus.Subscribe))
	}
	b.WriteString("  ]\n}\n")
	return b.String()
}

func quoted(subjects []string) string {
	q := make([]string, len(subjects))
	for i, subject := range subjects {
		q[i] = fmt.Sprintf("%q", subject)
	}
	return strings.Join(q, ", ")
}

// redisUsers has no comment: an ACL file of Redis cannot have one.
func redisUsers() string {
	b := strings.Builder{}
	b.WriteString("user default reset off\n")
	for _, s := range Services {
		if rules := s.Redis(); len(rules.Commands) > 0 {
			fmt.Fprintf(&b, "user %s on >${REDIS_%s_PASSWORD} %s\n", s, s.Variable(), rules.Rules())
		}
	}
	return b.String()
}
