// Package config fills one annotated struct from flags, over the environment, over a YAML file, over defaults.
//
//	type Config struct {
//		HTTPAddr string        `conf:"http-addr" env:"HTTP_ADDR" default:":8080" help:"address of the public listener"`
//		Grace    time.Duration `conf:"grace" env:"GRACE" default:"30s" help:"time that calls in flight have at shutdown"`
//		MaxFrame config.Size   `conf:"max-frame" env:"MAX_FRAME" default:"10MiB" help:"largest frame of a client"`
//		Origins  []string      `conf:"origins" env:"ORIGINS" help:"origins that may open a socket"`
//		Redis    struct {
//			URL config.Secret `conf:"url,required" env:"URL" help:"redis:// or rediss:// address"`
//		} `conf:"redis" env:"REDIS_"`
//	}
//
//	var cfg Config
//	err := config.Load(&cfg, config.Sources{Args: os.Args[1:], Environ: os.Environ(), Prefix: "HECATON_"})
//
// A field is named by its conf tag: the flag is --http-addr, the key of the file is http-addr. A struct with a conf tag
// is a group: its fields are --redis-url on the command line and redis: {url: …} in the file; the env tag of a group
// is put before the names of its fields. A struct without a conf tag adds no name. A field without a conf tag, and not
// a struct, is left alone.
//
// What the package promises:
//
//   - All mistakes are reported together, each with its place. An unknown flag or key names the nearest right one. A value
//     is never guessed.
//   - A [Secret] is never printed: not by an error, not by --help, not by fmt, slog or encoding/json. Each can come from
//     a file instead: NAME_FILE in the environment, --name-file as a flag, name-file in the file. One line break at its
//     end is dropped wherever it came from. Where it may be several keys, they are a list ([Secret.Keys]).
//   - An unknown variable of the environment is an error only with the program's own prefix.
//   - An empty variable counts as not set.
//   - A field that is not zero when Load is called keeps that value as its default.
//   - A struct with a Validate() error method is asked once all its fields are set.
package config
