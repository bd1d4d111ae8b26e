package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// field is one value that can be configured.
type field struct {
	flag     string // as on the command line, without dashes
	path     string // as in the file: group.key
	env      string // "" where the environment cannot set it
	fallback string // the default tag
	help     string
	required bool
	secret   bool
	set      bool // whether a source other than the default gave it
	value    reflect.Value
}

// validator is a struct that knows which of its values go together.
type validator interface{ Validate() error }

// schema is what a struct says about its own configuration.
type schema struct {
	fields     []*field
	validators []validator // inner structs before those that hold them
}

var (
	secretType = reflect.TypeFor[Secret]()
	liveType   = reflect.TypeFor[LiveSecret]()
)

// newSchema reads the tags of *target. Its errors are mistakes of the program, not of whoever runs it.
func newSchema(target any) (*schema, error) {
	v := reflect.ValueOf(target)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("config: target is %T, not a pointer to a struct", target)
	}
	s := &schema{}
	if err := s.walk(v.Elem(), names{}); err != nil {
		return nil, err
	}
	return s, s.checkUnique()
}

// names are what the groups around a field put before its own.
type names struct{ flag, path, env string }

func (s *schema) walk(v reflect.Value, outer names) error {
	var errs []error
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("conf"), ",")
		if !sf.IsExported() {
			if name != "" || sf.Anonymous {
				errs = append(errs, fmt.Errorf("config: field %s cannot be set, since it is not exported", sf.Name))
			}
			continue
		}
		fv := v.Field(i)
		if fv.Kind() == reflect.Struct && !settable(fv) {
			inner := outer
			if name != "" {
				inner = names{outer.flag + name + "-", outer.path + name + ".", outer.env}
			}
			inner.env += sf.Tag.Get("env")
			errs = append(errs, s.walk(fv, inner))
			continue
		}
		if name == "" {
			continue
		}
		if !settable(fv) {
			errs = append(errs, fmt.Errorf("config: field %s has the type %s, which cannot be configured", sf.Name, sf.Type))
			continue
		}
		f := &field{
			flag: outer.flag + name, path: outer.path + name,
			fallback: sf.Tag.Get("default"), help: sf.Tag.Get("help"),
			required: options == "required", secret: sf.Type == secretType || sf.Type == liveType, value: fv,
		}
		if env := sf.Tag.Get("env"); env != "" {
			f.env = outer.env + env
		}
		s.fields = append(s.fields, f)
	}
	if val, ok := v.Addr().Interface().(validator); ok {
		s.validators = append(s.validators, val)
	}
	return errors.Join(errs...)
}

func (s *schema) checkUnique() error {
	seen := map[string]bool{"help": true, "config": true}
	var errs []error
	for _, f := range s.fields {
		if seen[f.flag] {
			errs = append(errs, fmt.Errorf("config: two fields are named --%s", f.flag))
		}
		seen[f.flag] = true
		if f.env != "" {
			if seen["$"+f.env] {
				errs = append(errs, fmt.Errorf("config: two fields read the variable %s", f.env))
			}
			seen["$"+f.env] = true
		}
	}
	return errors.Join(errs...)
}
