package config

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// LiveSecret is a [Secret] that may change: if it came from a file, the file is read each time.
type LiveSecret struct {
	secret Secret
	path   string // "" where it came from elsewhere
}

// Get returns the secret as it is now.
func (l LiveSecret) Get() (Secret, error) {
	if l.path == "" {
		return l.secret, nil
	}
	text, err := readSecret(l.path)
	return Secret(text), err
}

// File returns the path of the file that it is read from; "" where it came from elsewhere.
func (l LiveSecret) File() string { return l.path }

// readSecret returns what a file has but for its line break; an empty one is an error.
func readSecret(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := withoutLineBreak(string(raw))
	if strings.Trim(text, "\r\n") == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return text, nil
}

// withoutLineBreak drops one at the end: `echo` ends with one, and whatever kept its output.
func withoutLineBreak(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// UnmarshalText takes a secret that stays as it is.
func (l *LiveSecret) UnmarshalText(text []byte) error {
	*l = LiveSecret{secret: Secret(text)}
	return nil
}

// String covers fmt, as [Secret.String] does; so do the others.
func (l LiveSecret) String() string { return l.secret.String() }

// GoString covers %#v.
func (l LiveSecret) GoString() string { return `config.LiveSecret("` + l.String() + `")` }

// MarshalText covers encoding/json and YAML.
func (l LiveSecret) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// LogValue covers log/slog.
func (l LiveSecret) LogValue() slog.Value { return slog.StringValue(l.String()) }
