package embedded

import (
	"context"
	"errors"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	knowledge "github.com/hecaton-dev/hecaton/services/knowledge/app"
)

func knowledgeName(i, n int) string {
	if n > 1 {
		return fmt.Sprintf("knowledge %d", i)
	}
	return "knowledge"
}

// startKnowledge starts the knowledge services one after the other: the first one migrates the database.
func (c *Cluster) startKnowledge(ctx context.Context) (pods []*pod, err error) {
	for i := range c.opts.Knowledge {
		p, err := c.startKnowledgeService(ctx, i)
		if err != nil {
			return nil, errors.Join(err, stopAll(pods))
		}
		pods = append(pods, p)
	}
	return pods, nil
}

func (c *Cluster) startKnowledgeService(ctx context.Context, i int) (*pod, error) {
	var cfg knowledge.Config
	if err := config.Defaults(&cfg); err != nil {
		return nil, err
	}
	cfg.PodName = fmt.Sprintf("knowledge-%d", i)
	cfg.GRPCAddr, cfg.AdminAddr = c.bases[i].Addr().String(), address(loopback, c.opts.KnowledgePorts.plus(i).Admin)
	cfg.DatabaseURL, cfg.NATSURL, cfg.DrainDelay = c.data.knowledge, c.nats(access.Knowledge), 0
	cfg.Services, cfg.Trace, cfg.TikaURL = c.Services, c.opts.Trace, c.opts.TikaURL
	c.embeddings(&cfg.Embeddings)
	if c.opts.KnowledgeService != nil {
		c.opts.KnowledgeService(i, &cfg)
	}
	name := knowledgeName(i, c.opts.Knowledge)
	app, err := knowledge.New(cfg, knowledge.Options{Logger: c.opts.Logger, Version: c.opts.Version, GRPCListener: c.bases[i]})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p, err := begin(ctx, name, app, map[Role]string{RoleGRPC: cfg.GRPCAddr, RoleAdmin: cfg.AdminAddr})
	if err != nil {
		return nil, err
	}
	c.Knowledge = append(c.Knowledge, Service{GRPC: app.GRPCAddr(), Admin: app.AdminAddr()})
	return p, nil
}

// embeddings are those that were asked for. What they leave open is as for the model.
func (c *Cluster) embeddings(e *knowledge.Embeddings) {
	asked := c.opts.Embeddings
	if e.Kind = asked.Kind; e.Kind == "" {
		e.Kind = knowledge.EmbeddingsOffline
		if asked.BaseURL != "" || asked.Key != "" || asked.Model != "" {
			e.Kind = knowledge.EmbeddingsOpenAI
		}
	}
	if asked.Model != "" {
		e.Model = asked.Model
	}
	if asked.Patience != 0 {
		e.Patience = asked.Patience
	}
	e.BaseURL, e.Key = asked.BaseURL, asked.Key
	e.ModelURL, e.ModelKey = c.opts.Model.BaseURL, c.opts.Model.Key
}
