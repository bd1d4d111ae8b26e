package access

import (
	"crypto/rand"
	"strings"
)

// Service is a kind of pod; its name is that of its user on the bus and in Redis.
type Service string

// The services. All pods of one are one user: any of them may do what each does.
const (
	Gateway           Service = "gateway"
	NodeRegistry      Service = "node-registry"
	AgentOrchestrator Service = "agent-orchestrator"
	Knowledge         Service = "knowledge"
)

// Services are all of them.
var Services = []Service{Gateway, NodeRegistry, AgentOrchestrator, Knowledge}

// Variable is the service's name as part of the name of an environment variable.
func (s Service) Variable() string { return strings.ToUpper(strings.ReplaceAll(string(s), "-", "_")) }

// Passwords are those of the services' users on one server.
type Passwords map[Service]string

// RandomPasswords returns passwords that nobody can guess, of letters and digits.
func RandomPasswords() Passwords {
	p := make(Passwords, len(Services))
	for _, s := range Services {
		p[s] = rand.Text()
	}
	return p
}
