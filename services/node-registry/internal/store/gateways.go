package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// ReportGateway stores what a gateway counts; it counts for ttl. The report and the note where to look for it lie in
// different slots, so they are two changes: the note alone counts nothing, and a report without it is found a report
// later. known tells whether the report before it was still there: a store that was emptied has forgotten it.
func (s *Store) ReportGateway(ctx context.Context, id ids.GatewayID, stats *nodev1.GatewayStats, ttl time.Duration) (known bool, err error) {
	replies := s.runAll(ctx, []call{
		{script: gatewayScript, keys: []string{gatewaysKey}, args: []any{string(id), ms(ttl)}},
		{script: reportScript, keys: []string{gatewayKey(id)}, args: []any{
			ms(ttl), stats.GetExtensionConnections(), stats.GetDesktopConnections(), stats.GetWebConnections(),
			stats.GetPendingRequests(),
		}},
		{script: holdScript, keys: []string{heldKey(id)}, args: []any{ms(heldFor)}},
	})
	for _, reply := range replies {
		if reply.err != nil {
			return false, failure(ctx, "store a gateway's report", reply.err)
		}
	}
	known = replies[1].number() == 1
	return known, failure(ctx, "store a gateway's report", replies[1].err)
}

// GatewayTotals adds up the reports that still count, and how many they are.
func (s *Store) GatewayTotals(ctx context.Context) (*nodev1.GatewayStats, int, error) {
	const doing = "add up the gateways' reports"
	gateways, err := s.client.ZRange(ctx, gatewaysKey, 0, -1).Result()
	if err != nil {
		return nil, 0, failure(ctx, doing, err)
	}
	total, count := &nodev1.GatewayStats{}, 0
	if len(gateways) == 0 {
		return total, 0, nil
	}
	pipe := s.client.Pipeline()
	cmds := make([]*redis.MapStringStringCmd, len(gateways))
	for i, id := range gateways {
		cmds[i] = pipe.HGetAll(ctx, gatewayKey(ids.GatewayID(id)))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, 0, failure(ctx, doing, err)
	}
	var p numbers
	for _, cmd := range cmds {
		report := cmd.Val()
		if len(report) == 0 {
			continue // it ended
		}
		count++
		total.ExtensionConnections += int32(p.parse(report["extension"]))
		total.DesktopConnections += int32(p.parse(report["desktop"]))
		total.WebConnections += int32(p.parse(report["web"]))
		total.PendingRequests += int32(p.parse(report["pending"]))
	}
	return total, count, failure(ctx, doing, p.err)
}
