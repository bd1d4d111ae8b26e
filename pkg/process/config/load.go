package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// ErrHelp is returned by [Load] when --help was asked for and has been printed.
var ErrHelp = errors.New("config: help was printed")

// Sources are where [Load] looks.
type Sources struct {
	// Program is the name that --help shows.
	Program string
	// Args are the arguments without the program's name.
	Args []string
	// Environ is the environment in the form of [os.Environ].
	Environ []string
	// Prefix marks the variables that are the program's own ("HECATON_"): an unknown one with it is an error. With a
	// prefix, PREFIX + "CONFIG" names the file where --config does not.
	Prefix string
	// Positional receives the arguments that are no flags; where it is nil, each of them is an error.
	Positional *[]string
	// Help is where --help is printed; nil means standard output.
	Help io.Writer
	// Warn is where a secret on the command line is complained of; nil means standard error.
	Warn io.Writer
}

// Load fills *target, a struct, from its sources: flags over environment over file over defaults. The error joins all
// that is wrong; it is [ErrHelp] where help was asked for.
func Load(target any, src Sources) error {
	s, err := newSchema(target)
	if err != nil {
		return err
	}
	args := parseArgs(s, src.Args)
	if args.help {
		out := src.Help
		if out == nil {
			out = os.Stdout
		}
		if err := s.printHelp(out, src); err != nil {
			return err
		}
		return ErrHelp
	}
	problems := append([]error{s.applyDefaults()}, args.problems...)
	if src.Positional != nil {
		*src.Positional = args.positional
	} else {
		for _, arg := range args.positional {
			problems = append(problems, fmt.Errorf("argument %q is not expected", arg))
		}
	}
	env := newEnvironment(src.Environ)
	file, fileFrom := args.file, "--config"
	if file == "" && src.Prefix != "" {
		file, fileFrom = env.vars[src.Prefix+"CONFIG"], src.Prefix+"CONFIG"
	}
	if file != "" {
		problems = append(problems, s.applyFile(file, fileFrom)...)
	}
	problems = append(problems, s.applyEnv(env, src.Prefix)...)
	problems = append(problems, s.applyFlags(args.values)...)
	src.warn(s, exposed(args.values))
	return errors.Join(append(problems, s.finish(errors.Join(problems...) == nil)...)...)
}

// warn says how to pass a secret without showing it to other programs. Failing to write the warning is not an error.
func (src Sources) warn(s *schema, flags []string) {
	out := src.Warn
	if out == nil {
		out = os.Stderr
	}
	for _, f := range s.fields {
		if !slices.Contains(flags, f.flag) {
			continue
		}
		instead := "--" + f.flag + fileFlag
		if f.env != "" {
			instead += ", " + f.env + fileVar + " or " + f.env
		}
		_, _ = fmt.Fprintf(out, "warning: every program on this machine can read the value of --%s on the command line; use %s\n", f.flag, instead)
	}
}

// Defaults fills the fields of *target that are zero from their default tags and validates nothing: for programs and
// tests that build a configuration in code.
func Defaults(target any) error {
	s, err := newSchema(target)
	if err != nil {
		return err
	}
	return s.applyDefaults()
}

func (s *schema) applyDefaults() error {
	var errs []error
	for _, f := range s.fields {
		if f.fallback == "" || !f.value.IsZero() {
			continue
		}
		if err := setText(f.value, f.fallback); err != nil {
			errs = append(errs, fmt.Errorf("config: default of --%s: %w", f.flag, err))
		}
	}
	return errors.Join(errs...)
}

// finish checks what only the whole can tell. Validators run on a clean load only: on values that are half set they
// would report what nobody wrote.
func (s *schema) finish(clean bool) []error {
	var problems []error
	for _, f := range s.fields {
		if f.required && !f.set && f.value.IsZero() {
			problems = append(problems, fmt.Errorf("%s is required", f.names()))
			clean = false
		}
	}
	if !clean {
		return problems
	}
	said := map[string]bool{} // a struct that embeds a validator is one too, and says the same
	for _, v := range s.validators {
		if err := v.Validate(); err != nil && !said[err.Error()] {
			said[err.Error()] = true
			problems = append(problems, err)
		}
	}
	return problems
}

// give sets f from text that was found at where. A secret's parse error would quote it, but its type has none. One trailing
// line break is not part of a secret, wherever it stood.
func (f *field) give(where, text string) error {
	if f.secret && text != "" {
		if text = withoutLineBreak(text); text == "" {
			return fmt.Errorf("%s: is only a line break", where)
		}
	}
	f.set = true
	if err := setText(f.value, text); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

// giveFromFile sets a secret from the file that where names.
func (f *field) giveFromFile(where, path string) error {
	text, err := readSecret(path)
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if err := f.give(where, text); err != nil {
		return err
	}
	if live, ok := f.value.Addr().Interface().(*LiveSecret); ok {
		live.path = path
	}
	return nil
}

// names returns the ways to set f, for people.
func (f *field) names() string {
	all := "--" + f.flag
	if f.env != "" {
		all += " (" + f.env + ")"
	}
	return all
}
