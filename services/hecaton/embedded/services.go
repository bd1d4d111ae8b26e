package embedded

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// ServiceTokenFile is the file in the data directory with the token that services use for gRPC, if the cluster made one.
const ServiceTokenFile = "service.token"

// closeGRPC makes a service token for gRPC if users have to prove who they are and nothing was said about services: whoever
// may call the gRPC port may act as any user. The token is new at each start; it is in the data directory, for those who
// may read that.
func (c *Cluster) closeGRPC() error {
	c.Services = c.opts.Services
	file := filepath.Join(c.DataDir, ServiceTokenFile)
	if c.opts.Auth.Mode != auth.JWT || c.Services.Enabled() {
		return removed(os.Remove(file)) // of an earlier start
	}
	token := rand.Text()
	c.Services.Token = config.Secret(token)
	fresh := file + ".new"
	if err := removed(os.Remove(fresh)); err != nil {
		return err
	}
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteString(token + "\n"); err != nil {
		_ = f.Close() // the write says what is wrong
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}

// removed takes what is not there for removed.
func removed(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
