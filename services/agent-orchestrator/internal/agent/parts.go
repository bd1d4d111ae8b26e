package agent

import (
	"context"
	"log/slog"
)

// parts are what all runs of a pod share. It is static once New has made it.
type parts struct {
	cfg     Config
	deps    Options
	log     *slog.Logger
	metrics *metrics
	models  modelClient
	caller  toolCaller
	frames  *frames

	headStarts chan struct{} // has an element for each head start

	// draining ends when the pod begins to stop: no request to a model and no new call goes on. stopping ends CallGrace
	// later: then calls in progress end, too.
	draining, stopping context.Context
}
