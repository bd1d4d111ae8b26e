package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// build is the version that the linker was told, else the revision that was built.
func (e Env) build() string {
	if e.Version != "" && e.Version != "dev" {
		return e.Version
	}
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return "dev"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "dev-" + s.Value[:12]
		}
	}
	return "dev"
}

func printVersion(_ context.Context, e Env) error {
	if err := e.load("version", &struct{}{}, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "hecaton %s (%s, %s/%s)\n", e.build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
