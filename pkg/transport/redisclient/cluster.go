package redisclient

import (
	"net/url"
	"strings"
)

// expand turns a URL that lists the nodes of a Redis Cluster, redis+cluster://user:password@one:6379,two:6379/?…, into one that the
// library reads: redis://user:password@one:6379/?addr=two:6379&…
func expand(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	kind, ok := strings.CutSuffix(scheme, "+cluster")
	if !ok {
		return raw
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	user, hosts := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, hosts = authority[:i+1], authority[i+1:]
	}
	nodes := strings.Split(hosts, ",")
	others := nodes[1:]
	if len(others) == 0 {
		others = nodes // one is enough to ask for all others
	}
	path, query, _ := strings.Cut(path, "?")
	for _, node := range others {
		query = strings.TrimPrefix(query+"&addr="+url.QueryEscape(node), "&")
	}
	return kind + "://" + user + nodes[0] + path + "?" + query
}
