package webguard

import (
	"errors"
	"fmt"
	"log/slog"
)

// ReferenceExtension is the origin of the browser extension in services/browser-extension, whose manifest has the key that
// the id comes from.
const ReferenceExtension = "chrome-extension://bbiffkagaphghlaehicdognlolaghaom"

// Config is what a public port serves to browsers beside its own pages and the reference extension.
type Config struct {
	Origins []string `conf:"origin" env:"ALLOWED_ORIGINS" help:"web page or extension that may call, such as https://app.example.org, https://*.example.org or chrome-extension://<id>; may be given more than once"`
	Hosts   []string `conf:"allow-host" env:"ALLOWED_HOSTS" help:"host name under which browsers and programs reach this, such as gateway.example.org or *.example.org; may be given more than once. Default: any name in jwt mode, only this machine's own names in trusted mode"`
}

// Validate reports what cannot work.
func (c Config) Validate() error {
	var problems []error
	if _, err := ParseOrigins(c.Origins); err != nil {
		problems = append(problems, fmt.Errorf("--origin (ALLOWED_ORIGINS): %w", err))
	}
	if _, err := ParseHosts(c.Hosts); err != nil {
		problems = append(problems, fmt.Errorf("--allow-host (ALLOWED_HOSTS): %w", err))
	}
	return errors.Join(problems...)
}

// Guard returns the guard of a public port. checkHost is for ports where a page needs nothing but a way in; listen is the
// port's address. A nil logger means discard.
func (c Config) Guard(listen string, checkHost bool, log *slog.Logger) (*Guard, error) {
	return New(Options{
		Origins: append([]string{ReferenceExtension}, c.Origins...), Listen: listen, Hosts: c.Hosts, CheckHost: checkHost,
		OriginSetting: Setting{"--origin", "ALLOWED_ORIGINS"}, HostSetting: Setting{"--allow-host", "ALLOWED_HOSTS"}, Logger: log,
	})
}
