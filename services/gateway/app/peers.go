package app

import (
	"cmp"
	"context"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/peer"
)

func (a *App) startLinks(context.Context) error {
	_, client, err := a.cfg.Services.TLS()
	if err != nil {
		return err
	}
	a.links = peer.NewLinks(peer.LinksConfig{Bus: a.bus, TLS: client, Logger: a.log})
	return nil
}

func (a *App) startPeers(ctx context.Context) error {
	if a.cfg.PeerAddr == "" {
		return nil
	}
	server, _, err := a.cfg.Services.TLS()
	if err != nil {
		return err
	}
	a.peers, err = peer.Listen(ctx, peer.ServerConfig{
		Gateway: a.id, Addr: a.cfg.PeerAddr, Advertise: cmp.Or(a.cfg.PeerName, a.cfg.PodIP),
		TLS: server, Bus: a.bus, Budget: a.budget, MaxReply: int(a.cfg.MaxReply),
		Deliver: a.router.Deliver, Logger: a.log,
	})
	return err
}

func (a *App) stopPeers(context.Context) error {
	if a.peers != nil {
		a.peers.Close()
	}
	return nil
}
