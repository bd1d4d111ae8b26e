// Package target lets a gRPC client name several addresses at once: "10.0.0.1:9090,10.0.0.2:9090".
//
// In Kubernetes one name stands for all replicas ("dns:///node-registry:9090"); on a laptop and in tests there is no such
// name.
package target

import (
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
)

// RoundRobin returns the target and options that spread calls over every address of a list, or over all that a single
// gRPC target resolves to. Calls of the services that are named must be harmless to repeat: where one ends UNAVAILABLE,
// as when its server was killed, it is tried again on the next.
func RoundRobin(addresses string, repeatable ...string) (string, []grpc.DialOption) {
	balance := grpc.WithDefaultServiceConfig(serviceConfig(repeatable))
	list := strings.Split(addresses, ",")
	if len(list) == 1 {
		return addresses, []grpc.DialOption{balance}
	}
	var state resolver.State
	for _, a := range list {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: strings.TrimSpace(a)}}})
	}
	r := manual.NewBuilderWithScheme("list")
	r.InitialState(state)
	return r.Scheme() + ":///" + strings.TrimSpace(list[0]), []grpc.DialOption{balance, grpc.WithResolvers(r)}
}

func serviceConfig(repeatable []string) string {
	const balance = `{"loadBalancingConfig":[{"round_robin":{}}]`
	if len(repeatable) == 0 {
		return balance + "}"
	}
	names := make([]string, len(repeatable))
	for i, service := range repeatable {
		names[i] = `{"service":"` + service + `"}`
	}
	return balance + `,"methodConfig":[{"name":[` + strings.Join(names, ",") + `],"retryPolicy":{"maxAttempts":3,` +
		`"initialBackoff":"0.01s","maxBackoff":"0.1s","backoffMultiplier":3,"retryableStatusCodes":["UNAVAILABLE"]}}]}`
}
