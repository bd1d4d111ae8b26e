package config

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"text/tabwriter"
)

// printHelp writes one row per field: flag, variable, default, meaning. Neither a secret nor its default is shown.
func (s *schema) printHelp(w io.Writer, src Sources) error {
	if err := s.applyDefaults(); err != nil {
		return err
	}
	program := src.Program
	if program == "" {
		program = "program"
	}
	configVar := ""
	if src.Prefix != "" {
		configVar = src.Prefix + "CONFIG"
	}
	var out bytes.Buffer // which cannot fail
	fmt.Fprintf(&out, "Usage: %s [flags]\n\nFlags win over the environment, over the file, over the defaults.\n\n", program)
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FLAG\tENVIRONMENT\tDEFAULT\tMEANING")
	fmt.Fprintf(t, "--config\t%s\t\tYAML file with the same names\n", configVar)
	for _, f := range s.fields {
		fmt.Fprintf(t, "--%s\t%s\t%s\t%s\n", f.flag, f.env, f.shown(), f.meaning())
	}
	_ = t.Flush()
	fmt.Fprintf(&out, "\nKeep a secret in a file, which --NAME%s, or NAME%s in the environment, names, or in the environment itself:\n"+
		"on the command line every program of the machine can read it.\n", fileFlag, fileVar)
	for line := range bytes.Lines(out.Bytes()) {
		if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// shown is the default as --help prints it.
func (f *field) shown() string {
	switch {
	case f.value.IsZero() && f.fallback == "":
		return ""
	case f.value.Kind() == reflect.Slice:
		return joinList(f.value)
	default:
		return fmt.Sprint(f.value.Interface())
	}
}

func (f *field) meaning() string {
	switch {
	case f.secret && f.required:
		return f.help + " (secret, required)"
	case f.secret:
		return f.help + " (secret)"
	case f.required:
		return f.help + " (required)"
	}
	return f.help
}
