package app

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// bodyPace is how slow clients of the public port may be.
func (c Config) bodyPace() edge.Pace {
	return edge.Pace{Grace: c.BodyGrace, Rate: int64(c.BodyRate), Write: c.WriteTimeout}
}

// proxies reads trusted-proxies.
func (c Config) proxies() ([]netip.Prefix, error) {
	var proxies []netip.Prefix
	for _, text := range c.TrustedProxies {
		if !strings.Contains(text, "/") {
			if addr, err := netip.ParseAddr(text); err == nil {
				proxies = append(proxies, netip.PrefixFrom(addr, addr.BitLen()))
				continue
			}
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("trusted-proxies: %q is neither an address nor a network such as 10.0.0.0/8", text)
		}
		proxies = append(proxies, p)
	}
	return proxies, nil
}

// unknownLimit limits the connections of a public port whose client is not known.
func (a *App) unknownLimit(port string) (*connlimit.Limit, error) {
	proxies, _ := a.cfg.proxies() // New has checked it
	limit, err := connlimit.New(connlimit.Config{
		PerAddress: a.cfg.MaxUnknownIP, InAll: a.cfg.MaxUnknown, Proxies: proxies, Name: port, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	labels := prometheus.Labels{"port": port}
	a.metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "hecaton_gateway_unknown_connections", Help: "Connections whose client has not shown who it is, by port.", ConstLabels: labels,
		}, func() float64 { return float64(limit.Open()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "hecaton_gateway_unknown_refused_total", Help: "Connections that were closed because too many clients were not known, by port.", ConstLabels: labels,
		}, func() float64 { return float64(limit.Refused()) }),
	)
	return limit, nil
}
