package resource

import (
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// API serves the metadata.
type API struct {
	Auth *auth.Authenticator
}

// Routes adds the path that RFC 9728 makes of the endpoint's, which clients ask first, and the bare one, which they ask then.
func (a *API) Routes(mux *http.ServeMux) {
	for _, path := range []string{auth.MetadataPath, auth.MetadataPath + auth.ResourcePath} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			// Without a configured URL it repeats the Host of the request, which another client must not be answered with.
			w.Header().Set("Cache-Control", "no-store")
			edge.JSON(w, http.StatusOK, a.Auth.Metadata(r))
		})
	}
}
