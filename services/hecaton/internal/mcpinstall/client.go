package mcpinstall

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Client is a program with a configuration of MCP servers.
type Client struct {
	Name  string
	Title string
	key   string // of the object that has the servers
	// file is that of a project where it is not absolute.
	file func(home string) string
}

func in(parts ...string) func(string) string {
	return func(string) string { return filepath.Join(parts...) }
}

func inHome(parts ...string) func(string) string {
	return func(home string) string { return filepath.Join(append([]string{home}, parts...)...) }
}

// clients are those that are known, with the files that they read.
var clients = []Client{
	{"claude", "Claude Code, in this directory", "mcpServers", in(".mcp.json")},
	{"claude-desktop", "Claude Desktop", "mcpServers", claudeDesktop},
	{"cursor", "Cursor", "mcpServers", inHome(".cursor", "mcp.json")},
	{"vscode", "VS Code, in this directory", "servers", in(".vscode", "mcp.json")},
}

func claudeDesktop(home string) string {
	const file = "claude_desktop_config.json"
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "Claude", file)
	case "windows":
		return filepath.Join(home, "AppData", "Roaming", "Claude", file)
	}
	return filepath.Join(home, ".config", "Claude", file)
}

// Find returns a client by its name.
func Find(name string) (Client, error) {
	names := make([]string, len(clients))
	for i, c := range clients {
		if c.Name == name {
			return c, nil
		}
		names[i] = c.Name
	}
	return Client{}, fmt.Errorf("%q is no client that is known: give one of %s", name, strings.Join(names, ", "))
}

// File returns the file that the client reads; one that is not absolute is below the current directory.
func (c Client) File(home string) string { return c.file(home) }

// Entry is one server of a client's configuration: a program that it starts, or a URL.
type Entry struct {
	Type    string            `json:"type"` // stdio or http
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Program is an entry of a program.
func Program(command string, args ...string) Entry {
	return Entry{Type: "stdio", Command: command, Args: args}
}

// Endpoint is an entry of a URL. A token is a secret, and so is the file then that has it.
func Endpoint(url string, headers map[string]string) Entry {
	return Entry{Type: "http", URL: url, Headers: headers}
}

// secret reports whether nobody else may read the entry.
func (e Entry) secret() bool { return e.Headers["Authorization"] != "" }

// Text returns a configuration that has the entry alone, to be shown.
func (c Client) Text(name string, e Entry) string {
	raw, _ := json.MarshalIndent(map[string]map[string]Entry{c.key: {name: e}}, "", "  ") // what is in it always encodes
	return string(raw) + "\n"
}
