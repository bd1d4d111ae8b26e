package access

import "strings"

// Redis is what a service may do in Redis. It is checked inside of scripts, too.
type Redis struct {
	// Keys are patterns of the keys that it may read and write.
	Keys []string
	// Commands are those that it may use, with "|" before a subcommand.
	Commands []string
}

// connecting is what the client library says beside AUTH and HELLO, which everybody may: PING, and to the nodes of a Redis
// Cluster where the keys are.
var connecting = []string{"ping", "cluster|slots", "command", "asking"}

// Redis returns what the service may do in Redis; nothing where there is no such service.
func (s Service) Redis() Redis {
	switch s {
	case NodeRegistry:
		return Redis{
			Keys: []string{
				"hecaton:{*}:nodes", "hecaton:{*}:node:*", "hecaton:{*}:epoch:*", "hecaton:{*}:session:*", "hecaton:{*}:last",
				"hecaton:{*}:gone", "hecaton:{*}:tools", "hecaton:{*}:use", "hecaton:users", "hecaton:gateways", "hecaton:gateway:*",
			},
			Commands: append([]string{
				"evalsha", "script|load", "time", "exists", "get", "set", "del", "pexpire", "pexpireat",
				"hget", "hmget", "hgetall", "hkeys", "hexists", "hset", "hdel",
				"zadd", "zcard", "zcount", "zrange", "zrangebyscore", "zrem", "zscore", "sadd", "srem", "spop",
			}, connecting...),
		}
	case AgentOrchestrator:
		return Redis{Keys: []string{"hecaton:{*}:workspace:*"}, Commands: append([]string{"get", "set"}, connecting...)}
	}
	return Redis{}
}

// Rules are the rules of an ACL that allow exactly what r says, in the words of Redis.
func (r Redis) Rules() string {
	words := []string{"resetkeys", "resetchannels", "-@all"}
	for _, key := range r.Keys {
		words = append(words, "~"+key)
	}
	for _, command := range r.Commands {
		words = append(words, "+"+command)
	}
	return strings.Join(words, " ")
}
