package config

import (
	"log/slog"
	"strings"
)

// Secret is a string that prints as "***" wherever it is printed by accident.
type Secret string

const mask = "***"

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// Keys returns the keys of a secret that may be several, so that they can be replaced one by one: between commas, without the
// blanks around them. The first is to sign, seal or send with; all are to be accepted.
func (s Secret) Keys() []Secret {
	var keys []Secret
	for key := range strings.SplitSeq(string(s), ",") {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, Secret(key))
		}
	}
	return keys
}

// First returns the first of [Secret.Keys], or "".
func (s Secret) First() Secret {
	if keys := s.Keys(); len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// String returns "***", or "" where there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString covers %#v.
func (s Secret) GoString() string { return `config.Secret("` + s.String() + `")` }

// MarshalText covers encoding/json and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue covers log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
