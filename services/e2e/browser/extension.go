package browser

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// ExtensionID is the id that the key in the extension's manifest gives it: an Origin check can name it exactly.
const ExtensionID = "bbiffkagaphghlaehicdognlolaghaom"

// Options are the extension's settings, as its options page would save them.
type Options struct {
	Server   string // ws://host:port of the gateway
	User     string // user id, without prefix
	Token    string // JWT; empty where the gateway trusts the user id
	Node     string // node id; empty: the extension makes one
	NodeName string // display name; empty: the extension's own
}

// config is the extension's config.json.
type config struct {
	Server   string `json:"server"`
	UserID   string `json:"user_id"`
	Token    string `json:"token"`
	NodeID   string `json:"node_id"`
	NodeName string `json:"node_name"`
}

// unpack copies the extension to a folder of the test, with the options as its config.json.
func unpack(t testing.TB, o Options) string {
	t.Helper()
	source, err := extensionFolder()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(config{o.Server, o.User, o.Token, o.Node, o.NodeName})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "config.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// extensionFolder looks for the extension upwards from the working directory, which go test sets to the package's folder.
func extensionFolder() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		folder := filepath.Join(here, "services", "browser-extension")
		if _, err := os.Stat(filepath.Join(folder, "manifest.json")); err == nil {
			return folder, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(here)
		if parent == here {
			return "", errors.New("services/browser-extension is not above the working directory")
		}
		here = parent
	}
}
