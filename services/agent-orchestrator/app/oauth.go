package app

import "github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"

// OAuthConfig is what Config says of OAuth providers, for programs that embed an orchestrator.
type OAuthConfig = oauth.Config
