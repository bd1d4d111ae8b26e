// Package target lets a gRPC client name all replicas of a service: by one name that has all their addresses, as that of a
// headless service in Kubernetes ("dns:///node-registry:9090"), or one by one where there is no such name
// ("10.0.0.1:9090,10.0.0.2:9090").
//
// A name is looked up every 5 s, and half a second after an address failed: replicas that are added get their share, and
// those that are replaced are followed. While a look-up fails, those known stay.
package target

import (
	"strings"
	"time"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/health" // watches the health of servers for [Healthy]
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
)

// RoundRobin returns the target and options that spread calls over every address of a list, or over all that a single
// gRPC target resolves to. Calls of the services that are named, or methods ("pkg.Service/Method"), must be harmless to
// repeat: where one ends UNAVAILABLE, as when its server was killed, it is tried again on the next. A server that answers
// nothing at all, paused or out of reach, is found out within about ten seconds, also when nothing is asked of it.
func RoundRobin(addresses string, repeatable ...string) (string, []grpc.DialOption) {
	return spread(addresses, serviceConfig("", repeatable))
}

// Healthy is [RoundRobin] over those servers that say of the service that it is healthy (grpc.health.v1): one that drains
// gets no new calls.
func Healthy(addresses, service string, repeatable ...string) (string, []grpc.DialOption) {
	return spread(addresses, serviceConfig(service, repeatable))
}

func spread(addresses, config string) (string, []grpc.DialOption) {
	opts := []grpc.DialOption{grpc.WithDefaultServiceConfig(config), grpc.WithKeepaliveParams(keepalive.ClientParameters{
		Time: 10 * time.Second, Timeout: 2 * time.Second, PermitWithoutStream: true, // gRPC allows no shorter Time
	})}
	list := strings.Split(addresses, ",")
	if len(list) == 1 {
		return addresses, append(opts, grpc.WithResolvers(names{}))
	}
	var state resolver.State
	for _, a := range list {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: strings.TrimSpace(a)}}})
	}
	r := manual.NewBuilderWithScheme("list")
	r.InitialState(state)
	return r.Scheme() + ":///" + strings.TrimSpace(list[0]), append(opts, grpc.WithResolvers(r))
}

func serviceConfig(watched string, repeatable []string) string {
	config := `{"loadBalancingConfig":[{"round_robin":{}}]`
	if watched != "" {
		config += `,"healthCheckConfig":{"serviceName":"` + watched + `"}`
	}
	if len(repeatable) == 0 {
		return config + "}"
	}
	names := make([]string, len(repeatable))
	for i, name := range repeatable {
		service, method, one := strings.Cut(name, "/")
		names[i] = `{"service":"` + service + `"}`
		if one {
			names[i] = `{"service":"` + service + `","method":"` + method + `"}`
		}
	}
	return config + `,"methodConfig":[{"name":[` + strings.Join(names, ",") + `],"retryPolicy":{"maxAttempts":3,` +
		`"initialBackoff":"0.01s","maxBackoff":"0.1s","backoffMultiplier":3,"retryableStatusCodes":["UNAVAILABLE"]}}]}`
}
