package cluster

import (
	"fmt"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	knowledge "github.com/hecaton-dev/hecaton/services/knowledge/app"
)

// startKnowledge starts the knowledge services of Options, with the offline embedder. They end with the test.
func (c *Cluster) startKnowledge() {
	database := c.opts.Database
	if database == "" && c.opts.Knowledge > 0 {
		database = "sqlite://" + c.t.TempDir() + "/knowledge.db"
	}
	for i := range c.opts.Knowledge {
		var cfg knowledge.Config
		must(c.t, config.Defaults(&cfg))
		cfg.PodName = fmt.Sprintf("knowledge-%d", i)
		cfg.GRPCAddr, cfg.AdminAddr = "127.0.0.1:0", "127.0.0.1:0"
		cfg.DatabaseURL, cfg.NATSURL = config.Secret(database), c.natsURL(access.Knowledge)
		cfg.Embeddings.Kind, cfg.DrainDelay = knowledge.EmbeddingsOffline, 0
		app, err := knowledge.New(cfg, knowledge.Options{Logger: c.logger(), Version: "test"})
		must(c.t, err)
		pod := &Pod{}
		pod.run(c.t, app.Run, app.Started())
		pod.Addr, pod.Admin = app.GRPCAddr(), app.AdminAddr()
		c.Knowledge = append(c.Knowledge, pod)
	}
}

// knowledgeTarget is whom gateways and orchestrators ask; "" for nobody.
func (c *Cluster) knowledgeTarget() string {
	addrs := make([]string, len(c.Knowledge))
	for i, k := range c.Knowledge {
		addrs[i] = k.Addr
	}
	return strings.Join(addrs, ",")
}
