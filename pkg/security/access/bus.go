package access

// Bus is what a service may do on the bus, as subjects of NATS: '*' stands for one token, '>' for the rest.
type Bus struct {
	// Publish are the subjects that it may send to, requests included.
	Publish []string
	// Subscribe are those that it may hear; with a second word, only as a member of that queue group.
	Subscribe []string
}

// Inbox is the first part of the subjects to which answers to the service's own requests come. With the one that all
// clients of NATS share, every service could hear every other's answers.
func (s Service) Inbox() string { return "_INBOX_" + string(s) }

// Bus returns what the service may do on the bus; nothing where there is no such service.
func (s Service) Bus() Bus {
	inbox := s.Inbox() + ".>"
	switch s {
	case Gateway:
		const node = "hecaton.node.*.*."
		const reply, intake, peer = "hecaton.reply.*.*", "hecaton.intake.*.*", "hecaton.peer.*"
		const gateways, gateway = "hecaton.gateway", "hecaton.gateway.*"
		const web, topic = "hecaton.web.*", "hecaton.topic.*.*"
		const events, revoked, approvals = "hecaton.event.node.*", "hecaton.revoked.*", "hecaton.approvals.*"
		return Bus{
			Publish:   []string{node + "call", node + "control", gateways, gateway, reply, intake, peer, web, topic, inbox},
			Subscribe: []string{node + "call holder", node + "control", gateways, gateway, reply, intake, peer, web, topic, events, revoked, approvals, inbox},
		}
	case NodeRegistry:
		events := []string{"hecaton.event.node.*"}
		return Bus{Publish: events, Subscribe: events}
	case AgentOrchestrator:
		own := []string{"hecaton.agent.*.*", "hecaton.cancel.*.*", "hecaton.saved.*", "hecaton.follows"}
		return Bus{Publish: append([]string{"hecaton.revoked.*", "hecaton.approvals.*", "hecaton.web.*"}, own...), Subscribe: own}
	case Knowledge:
		return Bus{Publish: []string{"hecaton.web.*"}, Subscribe: []string{inbox}}
	}
	return Bus{}
}
