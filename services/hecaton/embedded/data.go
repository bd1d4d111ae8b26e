package embedded

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// DataError says that a data directory cannot be used.
type DataError struct {
	Dir string
	Err error
}

func (e *DataError) Error() string { return fmt.Sprintf("data directory %s: %v", e.Dir, e.Err) }

// Unwrap returns what the system said.
func (e *DataError) Unwrap() error { return e.Err }

// ErrDataInUse says that another cluster uses the data directory.
var ErrDataInUse = errors.New("another cluster uses it")

// data is a data directory in use.
type data struct {
	database, files config.Secret
	knowledge       config.Secret
	key, mcpKey     config.Secret
	lock            *os.File
	temp            string // to remove at the end; "" where the directory stays
}

// openData takes the data directory.
func (c *Cluster) openData() (err error) {
	c.data = &data{}
	if c.DataDir = c.opts.DataDir; c.DataDir == "" {
		if c.DataDir, err = os.MkdirTemp("", "hecaton-"); err != nil {
			return err
		}
		c.data.temp = c.DataDir
	}
	if err := c.data.open(c.DataDir); err != nil {
		return errors.Join(&DataError{c.DataDir, err}, c.data.close())
	}
	if err := c.closeGRPC(); err != nil {
		return errors.Join(&DataError{c.DataDir, err}, c.data.close())
	}
	if c.opts.StorageURL != "" {
		c.data.database, c.data.knowledge = c.opts.StorageURL, c.opts.StorageURL
	}
	return nil
}

func (d *data) open(dir string) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if d.lock, err = lock(filepath.Join(dir, "lock")); err != nil {
		return err
	}
	d.database = fileURL("sqlite", filepath.Join(dir, "hecaton.db"))
	d.knowledge = fileURL("sqlite", filepath.Join(dir, "knowledge.db"))
	d.files = fileURL("file", filepath.Join(dir, "workspace"))
	if d.key, err = secretKey(filepath.Join(dir, "secret.key")); err != nil {
		return err
	}
	d.mcpKey, err = secretKey(filepath.Join(dir, "mcp.key"))
	return err
}

// close lets go of the directory, and removes it where it is temporary.
func (d *data) close() error {
	var err error
	if d.lock != nil {
		err = d.lock.Close()
	}
	if d.temp != "" {
		err = errors.Join(err, os.RemoveAll(d.temp))
	}
	return err
}

func fileURL(scheme, path string) config.Secret {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/data
		path = "/" + path
	}
	return config.Secret((&url.URL{Scheme: scheme, Path: path}).String())
}

// secretKey reads a key that seals, and creates it if there is none. The file is written atomically.
func secretKey(path string) (config.Secret, error) {
	raw, err := os.ReadFile(path)
	if err == nil {
		return config.Secret(strings.TrimSpace(string(raw))), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	text := base64.StdEncoding.EncodeToString(key[:])
	if err := os.WriteFile(path+".new", []byte(text+"\n"), 0o600); err != nil {
		return "", err
	}
	return config.Secret(text), os.Rename(path+".new", path)
}
