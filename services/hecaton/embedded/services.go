package embedded

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// ServiceTokenFile is the file of the data directory that holds the token of gRPC, where the cluster made one.
const ServiceTokenFile = "service.token"

// closeGRPC makes a token for gRPC where users prove who they are and nobody said how services do: whoever is believed
// there is believed to be any user. It is another one at each start; the data directory has it, for who may read that.
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
