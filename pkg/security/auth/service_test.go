package auth_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// toolServer answers one unary method, so that a call that got in can be told from one that did not.
type toolServer struct {
	toolv1.UnimplementedToolServiceServer
}

func (toolServer) GetStats(context.Context, *toolv1.GetStatsRequest) (*toolv1.GetStatsResponse, error) {
	return &toolv1.GetStatsResponse{}, nil
}

// serve runs a gRPC server that s guards and returns its address.
func serve(t *testing.T, s auth.ServiceAuth) string {
	t.Helper()
	options, err := s.ServerOptions()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	toolv1.RegisterToolServiceServer(server, toolServer{})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

func dial(t *testing.T, address string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func optionsOf(t *testing.T, s auth.ServiceAuth) []grpc.DialOption {
	t.Helper()
	options, err := s.DialOptions()
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// callUnary and callStream return the code that a call of their kind ends with.
func callUnary(ctx context.Context, conn *grpc.ClientConn) codes.Code {
	_, err := toolv1.NewToolServiceClient(conn).GetStats(ctx, &toolv1.GetStatsRequest{})
	return status.Code(err)
}

func callStream(ctx context.Context, conn *grpc.ClientConn) codes.Code {
	stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return status.Code(err)
	}
	defer func() { _ = stream.CloseSend() }()
	_ = stream.Send(&grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{},
	})
	_, err = stream.Recv()
	return status.Code(err)
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

const serviceToken config.Secret = "a-token-for-services"

func TestServiceToken(t *testing.T) {
	t.Parallel()
	address := serve(t, auth.ServiceAuth{Token: serviceToken})
	plain := dial(t, address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	for name, tt := range map[string]struct {
		conn     *grpc.ClientConn
		metadata []string
		want     codes.Code
	}{
		"right":            {conn: dial(t, address, optionsOf(t, auth.ServiceAuth{Token: serviceToken})...), want: codes.OK},
		"right, by hand":   {conn: plain, metadata: []string{"authorization", "bearer " + serviceToken.Reveal()}, want: codes.OK},
		"wrong":            {conn: dial(t, address, optionsOf(t, auth.ServiceAuth{Token: "another-token-for-services"})...), want: codes.Unauthenticated},
		"one byte less":    {conn: plain, metadata: []string{"authorization", "Bearer " + serviceToken.Reveal()[1:]}, want: codes.Unauthenticated},
		"missing":          {conn: dial(t, address, optionsOf(t, auth.ServiceAuth{})...), want: codes.Unauthenticated},
		"empty":            {conn: plain, metadata: []string{"authorization", "Bearer "}, want: codes.Unauthenticated},
		"without a scheme": {conn: plain, metadata: []string{"authorization", serviceToken.Reveal()}, want: codes.Unauthenticated},
		"another scheme":   {conn: plain, metadata: []string{"authorization", "Basic " + serviceToken.Reveal()}, want: codes.Unauthenticated},
		"two, one right":   {conn: plain, metadata: []string{"authorization", "Bearer " + serviceToken.Reveal(), "authorization", "Bearer x"}, want: codes.Unauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := metadata.AppendToOutgoingContext(within(t), tt.metadata...)
			if got := callUnary(ctx, tt.conn); got != tt.want {
				t.Errorf("unary: %s, want %s", got, tt.want)
			}
			if got := callStream(ctx, tt.conn); got != tt.want {
				t.Errorf("stream: %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("health needs none", func(t *testing.T) {
		t.Parallel()
		res, err := grpc_health_v1.NewHealthClient(plain).Check(within(t), &grpc_health_v1.HealthCheckRequest{})
		if err != nil || res.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("%v, %v", res, err)
		}
	})
}

// While a token is replaced, in three steps, every two neighbours understand each other.
func TestServiceTokenIsReplaced(t *testing.T) {
	t.Parallel()
	const fresh config.Secret = "another-token-for-services"
	steps := []config.Secret{serviceToken, serviceToken + "," + fresh, fresh + "," + serviceToken, fresh}
	for i, server := range steps {
		address := serve(t, auth.ServiceAuth{Token: server})
		for j, client := range steps {
			want := codes.OK
			if i == 0 && j > 1 || i == 3 && j < 2 {
				want = codes.Unauthenticated
			}
			conn := dial(t, address, optionsOf(t, auth.ServiceAuth{Token: client})...)
			if got := callUnary(within(t), conn); got != want {
				t.Errorf("step %d calls step %d: %s, want %s", j, i, got, want)
			}
		}
	}
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	ca, others := newAuthority(t), newAuthority(t)
	server := ca.service(t, "gateway")
	address := serve(t, server)
	right := ca.service(t, "registry")
	named, misnamed := right, right
	named.ServerName, misnamed.ServerName = "gateway", "registry"
	foreign := others.service(t, "registry")
	foreign.CA = right.CA // it believes the server, the server does not believe it
	suspicious := right
	suspicious.CA = others.service(t, "x").CA // the other way round
	for name, tt := range map[string]struct {
		options []grpc.DialOption
		want    codes.Code
	}{
		"right":                  {optionsOf(t, right), codes.OK},
		"right, by another name": {optionsOf(t, named), codes.OK},
		"wrong server name":      {optionsOf(t, misnamed), codes.Unavailable},
		"certificate of another": {optionsOf(t, foreign), codes.Unavailable},
		"server of another":      {optionsOf(t, suspicious), codes.Unavailable},
		"no certificate":         {[]grpc.DialOption{grpc.WithTransportCredentials(bareTLS(t, right.CA))}, codes.Unavailable},
		"no TLS":                 {optionsOf(t, auth.ServiceAuth{}), codes.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := callUnary(within(t), dial(t, address, tt.options...)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestMutualTLSAndToken(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	server, client := ca.service(t, "gateway"), ca.service(t, "registry")
	server.Token = serviceToken
	address := serve(t, server)
	if got := callUnary(within(t), dial(t, address, optionsOf(t, client)...)); got != codes.Unauthenticated {
		t.Errorf("a certificate without the token: %s", got)
	}
	client.Token = serviceToken
	if got := callUnary(within(t), dial(t, address, optionsOf(t, client)...)); got != codes.OK {
		t.Errorf("both: %s", got)
	}
}

func TestCertificatesAreReadAgain(t *testing.T) {
	t.Parallel()
	ca, next := newAuthority(t), newAuthority(t)
	server, client := ca.service(t, "gateway"), ca.service(t, "registry")
	address := serve(t, server)
	// The server's certificate is renewed in place, here by an authority that the client does not believe.
	renewed := next.service(t, "gateway")
	for from, to := range map[string]string{renewed.Cert: server.Cert, renewed.Key: server.Key} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := callUnary(within(t), dial(t, address, optionsOf(t, client)...)); got != codes.Unavailable {
		t.Errorf("the old certificate is still shown: %s", got)
	}
	client.CA = renewed.CA
	if got := callUnary(within(t), dial(t, address, optionsOf(t, client)...)); got != codes.OK {
		t.Errorf("the new certificate is not shown: %s", got)
	}
	// An authority is renewed in place too, under a program that runs: what it was told at its start is made again.
	client.CA = ca.service(t, "registry").CA
	before := optionsOf(t, client)
	text, err := os.ReadFile(renewed.CA)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(client.CA, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := callUnary(within(t), dial(t, address, before...)); got != codes.Unavailable {
		t.Errorf("a server whose clients' authorities were renewed takes a certificate of the old one: %s", got)
	}
	fresh := next.service(t, "registry")
	for from, to := range map[string]string{fresh.Cert: client.Cert, fresh.Key: client.Key} {
		if text, err = os.ReadFile(from); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := callUnary(within(t), dial(t, address, before...)); got != codes.OK {
		t.Errorf("authorities and certificate renewed on both sides: %s", got)
	}
}

func TestServiceAuthConfig(t *testing.T) {
	t.Parallel()
	good := newAuthority(t).service(t, "gateway")
	for name, tt := range map[string]struct {
		s    auth.ServiceAuth
		says string
	}{
		"a short token":      {auth.ServiceAuth{Token: "short"}, "shorter than 16"},
		"a lone certificate": {auth.ServiceAuth{Cert: good.Cert}, "mutual TLS needs"},
		"a lone CA":          {auth.ServiceAuth{CA: good.CA}, "mutual TLS needs"},
		"a missing file":     {auth.ServiceAuth{Cert: "/x", Key: "/x", CA: "/x"}, "no such file"},
		"no authority":       {auth.ServiceAuth{Cert: good.Cert, Key: good.Key, CA: good.Key}, "holds no certificate"},
		"a key of another":   {auth.ServiceAuth{Cert: good.Cert, Key: newAuthority(t).service(t, "x").Key, CA: good.CA}, "SERVICE_TLS_KEY"},
	} {
		if _, err := tt.s.ServerOptions(); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("server, %s: %v", name, err)
		}
		if _, err := tt.s.DialOptions(); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("client, %s: %v", name, err)
		}
	}
	if (auth.ServiceAuth{}).Enabled() || !good.Enabled() || !(auth.ServiceAuth{Token: serviceToken}).Enabled() {
		t.Error("Enabled does not tell whether others are kept out")
	}
	var s auth.ServiceAuth
	if err := config.Load(&s, config.Sources{Environ: []string{"SERVICE_TOKEN=" + serviceToken.Reveal()}}); err != nil || s.Token != serviceToken {
		t.Errorf("%v, %v", s, err)
	}
}
