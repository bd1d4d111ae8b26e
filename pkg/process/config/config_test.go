package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// Redis is a group with a secret of its own.
type Redis struct {
	URL      config.Secret `conf:"url" env:"URL" help:"address"`
	PoolSize int           `conf:"pool-size" env:"POOL_SIZE" default:"10"`
}

// Shared is embedded without a name.
type Shared struct {
	Level slog.Level `conf:"log-level" env:"LOG_LEVEL" default:"info"`
}

type settings struct {
	Shared
	Addr     string        `conf:"http-addr" env:"HTTP_ADDR" default:":8080" help:"public address"`
	Grace    time.Duration `conf:"grace" env:"GRACE" default:"30s"`
	MaxFrame config.Size   `conf:"max-frame" env:"HECATON_MAX_FRAME" default:"10MiB"`
	Origins  []string      `conf:"origins" env:"ORIGINS" default:"a,b"`
	Drain    bool          `conf:"drain" env:"DRAIN"`
	Workers  uint8         `conf:"workers" env:"WORKERS" default:"4"`
	Ratio    float64       `conf:"ratio" env:"RATIO" default:"0.5"`
	Key      config.Secret `conf:"jwt-secret" env:"JWT_SECRET" help:"signs"`
	Redis    Redis         `conf:"redis" env:"REDIS_"`
	Ignored  func()
}

func load(t *testing.T, src config.Sources) (settings, error) {
	t.Helper()
	var s settings
	err := config.Load(&s, src)
	return s, err
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantProblems asserts that err reports each of problems, and as many lines as there are problems.
func wantProblems(t *testing.T, err error, problems ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", problems)
	}
	for _, p := range problems {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("the error does not say %q:\n%v", p, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != len(problems) {
		t.Errorf("%d problems reported, want %d:\n%v", n, len(problems), err)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := load(t, config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	want := settings{
		Shared: Shared{slog.LevelInfo}, Addr: ":8080", Grace: 30 * time.Second, MaxFrame: 10 * config.MiB,
		Origins: []string{"a", "b"}, Workers: 4, Ratio: 0.5, Redis: Redis{PoolSize: 10},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestEverySourceSetsEveryType(t *testing.T) {
	t.Parallel()
	want := settings{
		Shared: Shared{slog.LevelWarn}, Addr: ":1", Grace: 5 * time.Minute, MaxFrame: 64 * config.KiB,
		Origins: []string{"x", "y"}, Drain: true, Workers: 255, Ratio: 0.25, Key: "k", Redis: Redis{URL: "redis://r", PoolSize: 3},
	}
	sources := map[string]config.Sources{
		"flags": {Args: strings.Fields(`--log-level warn --http-addr=:1 -grace 5m --max-frame 64KiB --origins x --origins y
			--drain --workers 255 --ratio .25 --jwt-secret k --redis-url redis://r --redis-pool-size=3`)},
		"environment": {Environ: []string{
			"LOG_LEVEL=warn", "HTTP_ADDR=:1", "GRACE=5m", "HECATON_MAX_FRAME=64KiB", "ORIGINS= x, y,", "DRAIN=true",
			"WORKERS=255", "RATIO=0.25", "JWT_SECRET=k", "REDIS_URL=redis://r", "REDIS_POOL_SIZE=3", "UNRELATED=1",
		}},
		"file": {Args: []string{"--config", write(t, "c.yaml", `
log-level: warn
http-addr: ":1"
grace: 5m
max-frame: 64KiB
origins: [x, y]
drain: true
workers: 255
ratio: 0.25
jwt-secret: k
redis:
  url: redis://r
  pool-size: 3
`)}},
	}
	for name, src := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, src)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := write(t, "c.yaml", "http-addr: file\ngrace: 1s\nworkers: 1\n")
	got, err := load(t, config.Sources{
		Args:    []string{"--http-addr", "flag"},
		Environ: []string{"HTTP_ADDR=env", "GRACE=2s", "HECATON_CONFIG=" + file},
		Prefix:  "HECATON_",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Addr != "flag" || got.Grace != 2*time.Second || got.Workers != 1 || got.Ratio != 0.5 {
		t.Errorf("flag over environment over file over default does not hold: %+v", got)
	}
}

func TestConfigFlagWinsOverItsVariable(t *testing.T) {
	t.Parallel()
	got, err := load(t, config.Sources{
		Args:    []string{"--config", write(t, "a.yaml", "workers: 1")},
		Environ: []string{"HECATON_CONFIG=/does/not/exist"},
		Prefix:  "HECATON_",
	})
	if err != nil || got.Workers != 1 {
		t.Errorf("workers %d, error %v", got.Workers, err)
	}
}

func TestPresetValueIsTheDefault(t *testing.T) {
	t.Parallel()
	s := settings{Addr: ":9", Grace: time.Second}
	if err := config.Load(&s, config.Sources{Environ: []string{"GRACE=2s"}}); err != nil {
		t.Fatal(err)
	}
	if s.Addr != ":9" || s.Grace != 2*time.Second || s.Workers != 4 {
		t.Errorf("got %+v", s)
	}
	var d settings
	if err := config.Defaults(&d); err != nil || d.Addr != ":8080" {
		t.Errorf("Defaults: addr %q, error %v", d.Addr, err)
	}
}

func TestAllProblemsAreReportedTogether(t *testing.T) {
	t.Parallel()
	file := write(t, "c.yaml", "http_addr: x\ngrace: soon\nredis:\n  pool-sise: 1\n  url: {a: b}\n")
	_, err := load(t, config.Sources{
		Args:    []string{"--config", file, "--htp-addr", "v", "--zzzzzzzz", "--workers", "256", "stray", "--ratio"},
		Environ: []string{"HECATON_MAX_FRAM=1", "DRAIN=maybe", "HECATON_MAX_FRAME=10M"},
		Prefix:  "HECATON_",
	})
	wantProblems(t, err,
		`flag --htp-addr is not known, did you mean --http-addr?`,
		`flag --zzzzzzzz is not known`,
		`flag --workers: "256" is not a whole number of at most 8 bits, 0 or more`,
		`argument "stray" is not expected`,
		`flag --ratio needs a value`,
		file+`:1: key "http_addr" is not known, did you mean http-addr?`,
		file+`:2: grace: "soon" is not a duration`,
		file+`:4: key "redis.pool-sise" is not known, did you mean redis.pool-size?`,
		file+`:5: redis.url is not a plain value`,
		`environment HECATON_MAX_FRAM is not known, did you mean HECATON_MAX_FRAME?`,
		`environment DRAIN: "maybe" is not true or false`,
		`environment HECATON_MAX_FRAME: "10M" is not a size`,
	)
}

func TestArguments(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args    []string
		rest    []string
		problem string
	}{
		"positional among flags":     {args: []string{"up", "--workers", "1", "x=y"}, rest: []string{"up", "x=y"}},
		"two dashes end the flags":   {args: []string{"--drain", "--", "--workers"}, rest: []string{"--workers"}},
		"a dash alone is positional": {args: []string{"-"}, rest: []string{"-"}},
		"a bool takes no next word":  {args: []string{"--drain", "false"}, rest: []string{"false"}},
		"a bool can be false":        {args: []string{"--drain=false"}},
		"an empty value is a value":  {args: []string{"--http-addr="}},
		"a value may have a dash":    {args: []string{"--http-addr", "-x"}},
		"given twice":                {args: []string{"--grace", "1s", "--grace", "2s"}, problem: "flag --grace: given twice"},
		"twice in two ways":          {args: []string{"--jwt-secret", "a", "--jwt-secret-file", "/x"}, problem: "given twice, also as flag --jwt-secret"},
		"-file is for secrets":       {args: []string{"--http-addr-file", "/x"}, problem: "flag --http-addr-file is not known"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rest []string
			_, err := load(t, config.Sources{Args: tt.args, Positional: &rest})
			if tt.problem != "" {
				wantProblems(t, err, tt.problem)
				return
			}
			if err != nil || !reflect.DeepEqual(rest, tt.rest) {
				t.Errorf("rest %q, error %v; want %q", rest, err, tt.rest)
			}
		})
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, problem string }{
		"empty":                {"", ""},
		"only a comment":       {"# nothing\n", ""},
		"a key without value":  {"http-addr:\nredis:\n", ""},
		"not a mapping":        {"- a\n", ":1: the file is not a set of keys"},
		"a group as a value":   {"redis: 3\n", ":1: redis is not a set of keys"},
		"a key twice":          {"drain: true\ndrain: false\n", `:2: key "drain" stands here and on line 1`},
		"two documents":        {"drain: true\n---\ndrain: false\n", "holds more than one document"},
		"broken":               {"a: [\n", "yaml:"},
		"a list for a string":  {"http-addr: [a]\n", ":1: http-addr is not a plain value"},
		"a list of mappings":   {"origins: [{a: b}]\n", ":1: origins is not a list of plain values"},
		"a list with commas":   {"origins: x,y\n", ""},
		"an alias":             {"http-addr: &a x\njwt-secret: *a\n", ":2: jwt-secret is not a plain value"},
		"flat name of a group": {"redis-url: x\n", `:1: key "redis-url" is not known, did you mean redis.url?`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, config.Sources{Args: []string{"--config", write(t, "c.yaml", tt.text)}})
			if tt.problem != "" {
				wantProblems(t, err, tt.problem)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		_, err := load(t, config.Sources{Args: []string{"--config", "/does/not/exist"}})
		wantProblems(t, err, "--config: open /does/not/exist")
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v does not wrap the cause", err)
		}
	})
}

// A key is the same key however it came: a line break at its end is the shell's.
func TestSecretsDropALineBreakWhereverTheyStand(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]config.Sources{
		"environment":            {Environ: []string{"JWT_SECRET=s3cret\n"}},
		"environment, CRLF":      {Environ: []string{"JWT_SECRET=s3cret\r\n"}},
		"file of the variable":   {Environ: []string{"JWT_SECRET_FILE=" + write(t, "env", "s3cret\n")}},
		"flag":                   {Args: []string{"--jwt-secret", "s3cret\n"}},
		"file of the flag":       {Args: []string{"--jwt-secret-file", write(t, "flag", "s3cret\n")}},
		"YAML":                   {Args: []string{"--config", write(t, "c.yaml", "jwt-secret: |\n  s3cret\n")}},
		"nothing to be dropped":  {Environ: []string{"JWT_SECRET=s3cret"}},
		"a file with none there": {Args: []string{"--jwt-secret-file", write(t, "bare", "s3cret")}},
	} {
		if s, err := load(t, src); err != nil || s.Key.Reveal() != "s3cret" {
			t.Errorf("%s: %q, %v", name, s.Key.Reveal(), err)
		}
	}
	if s, err := load(t, config.Sources{Environ: []string{"JWT_SECRET=s3cret\n\n"}}); err != nil || s.Key.Reveal() != "s3cret\n" {
		t.Errorf("more than one is dropped: %q, %v", s.Key.Reveal(), err)
	}
	if _, err := load(t, config.Sources{Environ: []string{"JWT_SECRET=\n"}}); err == nil || !strings.Contains(err.Error(), "only a line break") {
		t.Errorf("a line break as a secret: %v", err)
	}
}

// A secret that is asked for again is what its file has by then.
func TestLiveSecret(t *testing.T) {
	t.Parallel()
	type settings struct {
		Token config.LiveSecret `conf:"token" env:"TOKEN"`
	}
	get := func(s settings) string {
		secret, err := s.Token.Get()
		if err != nil {
			return err.Error()
		}
		return secret.Reveal()
	}
	var fixed, live settings
	if err := config.Load(&fixed, config.Sources{Environ: []string{"TOKEN=one\n"}}); err != nil || get(fixed) != "one" {
		t.Errorf("%q, %v", get(fixed), err)
	}
	path := write(t, "token", "one\n")
	if err := config.Load(&live, config.Sources{Args: []string{"--token-file", path}}); err != nil || get(live) != "one" {
		t.Errorf("%q, %v", get(live), err)
	}
	for text, want := range map[string]string{"two\n": "two", "three": "three", "\n": path + " is empty"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := get(live); got != want {
			t.Errorf("the file has %q, the secret is %q", text, got)
		}
	}
	if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil { // whichever was the last above
		t.Fatal(err)
	}
	encoded, err := json.Marshal(fixed)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(encoded), fmt.Sprint(fixed), fmt.Sprintf("%+v %#v %s", fixed, fixed, fixed.Token)} {
		if strings.Contains(shown, "one") || !strings.Contains(shown, "***") {
			t.Errorf("it is shown as %s", shown)
		}
	}
	if err := config.Load(new(settings), config.Sources{Args: []string{"--token-file", path}}); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("an empty file: %v", err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[config.Secret][]config.Secret{
		"": nil, " ,\n": nil, "a": {"a"}, "a,b": {"a", "b"}, "a, b": {"a", "b"}, "a\nb\n": {"a\nb"}, ",a,,b c,": {"a", "b c"},
	} {
		if got := text.Keys(); !slices.Equal(got, want) {
			t.Errorf("%q: %d keys, want %d", text.Reveal(), len(got), len(want))
		}
		if first := text.First(); len(want) == 0 && first != "" || len(want) > 0 && first != want[0] {
			t.Errorf("%q: the first is %q", text.Reveal(), first.Reveal())
		}
	}
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	path := write(t, "secret", " s3cret \r\n")
	for name, src := range map[string]config.Sources{
		"environment": {Environ: []string{"REDIS_URL_FILE=" + path}},
		"flag":        {Args: []string{"--redis-url-file", path}},
		"file":        {Args: []string{"--config", write(t, "c.yaml", "redis: {url-file: "+path+"}")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, src)
			if err != nil || got.Redis.URL.Reveal() != " s3cret " {
				t.Errorf("got %q, error %v", got.Redis.URL.Reveal(), err)
			}
		})
	}
	for name, tt := range map[string]struct {
		env     []string
		problem string
	}{
		"both":    {[]string{"JWT_SECRET=a", "JWT_SECRET_FILE=" + path}, "environment JWT_SECRET and JWT_SECRET_FILE are both set"},
		"missing": {[]string{"JWT_SECRET_FILE=/does/not/exist"}, "environment JWT_SECRET_FILE: open /does/not/exist"},
		"empty":   {[]string{"JWT_SECRET_FILE=" + write(t, "empty", "\n")}, "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, config.Sources{Environ: tt.env})
			wantProblems(t, err, tt.problem)
		})
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	s := settings{Key: secret}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "key", s.Key, "all", s)
	encoded, err := json.Marshal(struct{ K config.Secret }{secret})
	if err != nil {
		t.Fatal(err)
	}
	var help bytes.Buffer
	helpErr := config.Load(&s, config.Sources{Args: []string{"--help", "--jwt-secret", secret}, Help: &help})
	_, loadErr := load(t, config.Sources{Args: []string{"--jwt-secret", secret, "--jwt-secret", secret, "--jwt-secrt", secret}})
	for name, text := range map[string]string{
		"%v":          fmt.Sprint(s.Key),
		"%+v, nested": fmt.Sprintf("%+v", s),
		"%#v, nested": fmt.Sprintf("%#v", s.Redis) + fmt.Sprintf("%#v", s.Key),
		"%s %q %x":    fmt.Sprintf("%s %q %x", s.Key, s.Key, s.Key),
		"slog":        log.String(),
		"json":        string(encoded),
		"help":        help.String() + helpErr.Error(),
		"error":       loadErr.Error(),
	} {
		if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
			t.Errorf("%s prints the secret: %s", name, text)
		}
	}
	if config.Secret("").String() != "" || config.Secret("x").String() != "***" {
		t.Error("a Secret does not show whether it is there")
	}
}

func TestOwnPrefix(t *testing.T) {
	t.Parallel()
	// What Kubernetes sets in every pod beside a service named hecaton-gateway.
	links := []string{
		"HECATON_GATEWAY_SERVICE_HOST=10.0.0.1", "HECATON_GATEWAY_SERVICE_PORT=8080", "HECATON_GATEWAY_SERVICE_PORT_HTTP=8080",
		"HECATON_GATEWAY_PORT=tcp://10.0.0.1:8080", "HECATON_GATEWAY_PORT_8080_TCP=tcp://10.0.0.1:8080",
		"HECATON_GATEWAY_PORT_8080_TCP_PROTO=tcp", "HECATON_GATEWAY_PORT_8080_TCP_PORT=8080", "HECATON_GATEWAY_PORT_8080_TCP_ADDR=10.0.0.1",
	}
	if _, err := load(t, config.Sources{Environ: links, Prefix: "HECATON_"}); err != nil {
		t.Errorf("service links: %v", err)
	}
	if _, err := load(t, config.Sources{Environ: []string{"HECATON_X=1"}}); err != nil {
		t.Errorf("without a prefix: %v", err)
	}
	if _, err := load(t, config.Sources{Environ: []string{"HECATON_X="}, Prefix: "HECATON_"}); err != nil {
		t.Errorf("an empty variable counts as not set: %v", err)
	}
	_, err := load(t, config.Sources{Environ: []string{"HECATON_X=1"}, Prefix: "HECATON_"})
	wantProblems(t, err, "environment HECATON_X is not known")
}

// Pair knows what its values have to be together.
type Pair struct {
	Low  int `conf:"low,required" env:"LOW"`
	High int `conf:"high,required" env:"HIGH"`
}

func (p Pair) Validate() error {
	if p.Low > p.High {
		return errors.New("low is above high")
	}
	return nil
}

// Embedding is a validator too, by the struct it embeds.
type Embedding struct{ Pair }

func TestRequiredAndValidate(t *testing.T) {
	t.Parallel()
	var p Pair
	wantProblems(t, config.Load(&p, config.Sources{Environ: []string{"LOW=1"}}), "--high (HIGH) is required")
	p = Pair{}
	wantProblems(t, config.Load(&p, config.Sources{Environ: []string{"LOW=2", "HIGH=1"}}), "low is above high")
	p = Pair{}
	if err := config.Load(&p, config.Sources{Environ: []string{"LOW=0", "HIGH=1"}}); err != nil {
		t.Errorf("a zero that was given satisfies required: %v", err)
	}
	var o struct{ Inner Pair }
	wantProblems(t, config.Load(&o, config.Sources{Environ: []string{"LOW=2", "HIGH=1"}}), "low is above high")
	wantProblems(t, config.Load(new(Embedding), config.Sources{Environ: []string{"LOW=2", "HIGH=1"}}), "low is above high")
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := settings{Grace: time.Minute}
	err := config.Load(&s, config.Sources{
		Program: "gateway", Args: []string{"--nonsense", "--help"}, Environ: []string{"WORKERS=x"}, Prefix: "HECATON_", Help: &out,
	})
	if !errors.Is(err, config.ErrHelp) {
		t.Fatalf("got %v, want ErrHelp, whatever else is wrong", err)
	}
	golden, err := os.ReadFile("testdata/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(golden) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), golden)
	}
}

func TestMistakesOfTheProgram(t *testing.T) {
	t.Parallel()
	var number int
	for name, target := range map[string]any{
		"not a pointer": settings{},
		"not a struct":  &number,
		"nil":           (*settings)(nil),
		"two flags": &struct {
			A, B string `conf:"x"`
		}{},
		"a reserved flag": &struct {
			A string `conf:"help"`
		}{},
		"two variables": &struct {
			A string `conf:"a" env:"X"`
			B string `conf:"b" env:"X"`
		}{},
		"a type": &struct {
			A map[string]int `conf:"a"`
		}{},
		"not exported": &struct {
			a string `conf:"a"`
		}{},
		"a broken default": &struct {
			A int `conf:"a" default:"x"`
		}{},
	} {
		if err := config.Load(target, config.Sources{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A secret on the command line is taken, and complained of without being repeated.
func TestSecretsOnTheCommandLineWarn(t *testing.T) {
	t.Parallel()
	type settings struct {
		Key  config.Secret `conf:"key" env:"KEY" help:"k"`
		Bare config.Secret `conf:"bare" help:"k"`
		URL  config.Secret `conf:"url" env:"URL" help:"u"`
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--key hunter2":                            "--key-file, KEY_FILE or KEY",
		"--bare=hunter2":                           "--bare-file\n",
		"--url redis://:hunter2@host:1":            "--url-file",
		"--url nats://a:1,nats://user:hunter2@b:1": "--url-file",
		"--url redis://host?password=hunter2":      "--url-file",
		"--key-file " + file:                       "",
		"--url nats://a:1,nats://b:1":              "",
		"--url file:///data":                       "",
		"--url=":                                   "",
	} {
		var said strings.Builder
		var c settings
		if err := config.Load(&c, config.Sources{Args: strings.Fields(args), Warn: &said}); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		if (said.Len() > 0) != (want != "") || !strings.Contains(said.String(), want) || strings.Contains(said.String(), "hunter2") {
			t.Errorf("%s: %q, want %q", args, said.String(), want)
		}
	}
	var said strings.Builder
	if err := config.Load(new(settings), config.Sources{Environ: []string{"KEY=hunter2"}, Warn: &said}); err != nil || said.Len() > 0 {
		t.Errorf("the environment: %v, %q", err, said.String())
	}
}
