package bus

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

const root = "hecaton."

// The last tokens of a node's subjects.
const (
	SuffixCall    = "call"    // any → holder, queue group [HolderQueue]: a request frame, or one that is no call
	SuffixControl = "control" // router, new holder → holders: the end of a call, a fence
)

// HolderQueue is the queue group of [SuffixCall]: even while two pods believe that they hold a node, a
// message reaches one of them.
const HolderQueue = "holder"

// NodePrefix returns the common start of a node's subjects, up to and including the last dot.
func NodePrefix(n ids.Node) string {
	return root + "node." + Token(string(n.User)) + "." + Token(string(n.Node)) + "."
}

// WebSubject reaches every gateway that has a client which follows the user.
func WebSubject(user ids.UserID) string { return root + "web." + Token(string(user)) }

// TopicSubject reaches every gateway that has a client which follows a topic of a dialect's own: kind is what it is (a room,
// say), id which one.
func TopicSubject(kind, id string) string { return root + "topic." + Token(kind) + "." + Token(id) }

// AllTopics matches [TopicSubject] of every id of a kind.
func AllTopics(kind string) string { return root + "topic." + Token(kind) + ".*" }

// TopicID returns the id of a [TopicSubject]; empty for another subject.
func TopicID(subject string) string {
	rest, ok := strings.CutPrefix(subject, root+"topic.")
	_, token, _ := strings.Cut(rest, ".")
	id, err := Untoken(token)
	if !ok || err != nil {
		return ""
	}
	return id
}

// ParseNode splits one of a node's subjects into the node and what stands after [NodePrefix].
func ParseNode(subject string) (n ids.Node, suffix string, err error) {
	rest, _ := strings.CutPrefix(subject, root+"node.")
	userToken, rest, _ := strings.Cut(rest, ".")
	nodeToken, suffix, _ := strings.Cut(rest, ".")
	user, err := Untoken(userToken)
	if err != nil {
		return n, "", err
	}
	node, err := Untoken(nodeToken)
	return ids.Node{User: ids.UserID(user), Node: ids.NodeID(node)}, suffix, err
}

// NodeEventSubject carries the presence events of a user's nodes.
func NodeEventSubject(user ids.UserID) string { return root + "event.node." + Token(string(user)) }

// AllNodeEvents matches [NodeEventSubject] of every user.
const AllNodeEvents = root + "event.node.*"

// ReplyPrefix returns the start of the subjects on which a gateway hears replies; a number follows.
func ReplyPrefix(gateway ids.GatewayID) string { return root + "reply." + Token(string(gateway)) + "." }

// IntakePrefix returns the start of the subjects on which a gateway takes requests that come in chunks.
func IntakePrefix(gateway ids.GatewayID) string {
	return root + "intake." + Token(string(gateway)) + "."
}

// GatewaysSubject reaches every gateway: which of them there are, and whether one of them has seen a call.
const GatewaysSubject = root + "gateway"

// GatewaySubject reaches one gateway, with what others answer to its question on [GatewaysSubject].
func GatewaySubject(gateway ids.GatewayID) string {
	return GatewaysSubject + "." + Token(string(gateway))
}

// PeerSubject asks a gateway where its peers can reach it.
func PeerSubject(gateway ids.GatewayID) string { return root + "peer." + Token(string(gateway)) }

// ReplyTo splits a subject that starts with [ReplyPrefix] into the gateway and the number.
func ReplyTo(subject string) (gateway ids.GatewayID, number uint64, err error) {
	token, raw, ok := strings.Cut(strings.TrimPrefix(subject, root+"reply."), ".")
	if !ok {
		return "", 0, errToken
	}
	id, err := Untoken(token)
	if err != nil {
		return "", 0, err
	}
	number, err = strconv.ParseUint(raw, ReplyBase, 64)
	return ids.GatewayID(id), number, err
}

// ReplyBase is the base of the number that ends a reply subject.
const ReplyBase = 36

// AgentSubject carries the events of a session's runs to the pods where somebody follows it.
func AgentSubject(user ids.UserID, session ids.SessionID) string {
	return root + "agent." + Token(string(user)) + "." + Token(string(session))
}

// FollowsSubject tells every orchestrator which sessions another one follows.
const FollowsSubject = root + "follows"

// CancelSubject tells every orchestrator that the end of a session's run was asked for.
func CancelSubject(user ids.UserID, session ids.SessionID) string {
	return cancelPrefix + Token(string(user)) + "." + Token(string(session))
}

const cancelPrefix = root + "cancel."

// AllCancels matches [CancelSubject] of every session.
const AllCancels = cancelPrefix + "*.*"

// ParseCancel reverses [CancelSubject].
func ParseCancel(subject string) (ids.UserID, ids.SessionID, error) {
	userToken, sessionToken, ok := strings.Cut(strings.TrimPrefix(subject, cancelPrefix), ".")
	if !ok {
		return "", "", errToken
	}
	user, err := Untoken(userToken)
	if err != nil {
		return "", "", err
	}
	session, err := Untoken(sessionToken)
	return ids.UserID(user), ids.SessionID(session), err
}

// RevokedSubject tells every gateway that a token of a user was revoked.
func RevokedSubject(token string) string { return revokedPrefix + Token(token) }

const revokedPrefix = root + "revoked."

// AllRevoked matches [RevokedSubject] of every token.
const AllRevoked = revokedPrefix + "*"

// ParseRevoked reverses [RevokedSubject].
func ParseRevoked(subject string) (token string, err error) {
	return Untoken(strings.TrimPrefix(subject, revokedPrefix))
}

// ApprovalsSubject tells every gateway that something of a user's approvals has changed: the settings, or a call that waited was
// decided.
func ApprovalsSubject(user ids.UserID) string { return approvalsPrefix + Token(string(user)) }

const approvalsPrefix = root + "approvals."

// AllApprovals matches [ApprovalsSubject] of every user.
const AllApprovals = approvalsPrefix + "*"

// ParseApprovals reverses [ApprovalsSubject].
func ParseApprovals(subject string) (ids.UserID, error) {
	user, err := Untoken(strings.TrimPrefix(subject, approvalsPrefix))
	return ids.UserID(user), err
}

// SavedSubject tells every orchestrator that a configuration that a user has saved was made, changed or removed; the body is its id.
func SavedSubject(user ids.UserID) string { return savedPrefix + Token(string(user)) }

const savedPrefix = root + "saved."

// AllSaved matches [SavedSubject] of every user.
const AllSaved = savedPrefix + "*"

// ParseSaved reverses [SavedSubject].
func ParseSaved(subject string) (ids.UserID, error) {
	user, err := Untoken(strings.TrimPrefix(subject, savedPrefix))
	return ids.UserID(user), err
}

const escape = '='

// Token escapes an id into one NATS token, reversibly: bytes outside [A-Za-z0-9_-] become '=' and two hex digits.
func Token(id string) string {
	n := 0
	for i := range len(id) {
		if !plain(id[i]) {
			n++
		}
	}
	if n == 0 {
		return id
	}
	var b strings.Builder
	b.Grow(len(id) + 2*n)
	for i := range len(id) {
		if c := id[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte(escape)
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

var errToken = errors.New("not a token that Token made")

// Untoken reverses [Token] and refuses anything that Token does not make.
func Untoken(token string) (string, error) {
	if strings.IndexByte(token, escape) < 0 && Token(token) == token {
		return token, nil // the common case costs no copy
	}
	b := make([]byte, 0, len(token))
	for i := 0; i < len(token); i++ {
		c := token[i]
		if plain(c) {
			b = append(b, c)
			continue
		}
		if c != escape || i+2 >= len(token) {
			return "", errToken
		}
		raw, err := hex.DecodeString(token[i+1 : i+3])
		if err != nil || plain(raw[0]) || strings.ToLower(token[i+1:i+3]) != token[i+1:i+3] {
			return "", errToken
		}
		b = append(b, raw[0])
		i += 2
	}
	return string(b), nil
}
