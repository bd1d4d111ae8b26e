package config

import "log/slog"

// Secret is a string that prints as "***" wherever it is printed by accident.
type Secret string

const mask = "***"

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

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
