package jsonrpc

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// MaxItems bounds what the lists and maps of one [Decode] hold together. An item that takes three bytes of JSON would take
// a hundred in memory.
const MaxItems = 4096

// Decode reads members of a validated object into the fields of a struct, each by the exact name in its json tag:
// encoding/json alone would take "Status" for "status". A second tag, also, holds another name, which counts where
// the first is not there. Members that are missing or null leave their field as it is; others are ignored. The error is [ErrNotObject]
// or a *[FieldError].
//
// Fields are of type string, bool, float64, int32, json.RawMessage (any value) or [Object], a struct of such fields, a
// pointer to one of these, a list of strings or structs, or a map of strings. What is raw is a slice of the object.
func Decode(object []byte, into any) error {
	start := space(object, 0)
	if start == len(object) || object[start] != '{' {
		return ErrNotObject
	}
	d := decoder{left: MaxItems}
	if err := d.object(object[start:], reflect.ValueOf(into).Elem()); err != nil {
		return err
	}
	return nil
}

// Object is a field's type whose value must be an object, and is not read further.
type Object []byte

// FieldError says which member of an object is wrong, and what would be right.
type FieldError struct {
	// Path names the member from the outside, such as "tools[0].name".
	Path string
	// Problem is what follows the name in a sentence: "must be a string".
	Problem string
}

func (e *FieldError) Error() string { return e.Path + " " + e.Problem }

// below names the member as its parent does.
func (e *FieldError) below(parent string) *FieldError {
	if e.Path != "" && e.Path[0] != '[' {
		parent += "."
	}
	return &FieldError{parent + e.Path, e.Problem}
}

func wrong(problem string) *FieldError { return &FieldError{Problem: "must be " + problem} }

// decoder is one Decode. It descends as deep as the Go types do, whatever the text nests. Errors get their path on the way
// back.
type decoder struct {
	left int // of MaxItems
}

func (d *decoder) object(raw []byte, into reflect.Value) (err *FieldError) {
	plan := planOf(into.Type())
	values := make([]found, len(plan.fields))
	Members(raw, func(name, value []byte) {
		at, known := plan.names[string(name)]
		if !known {
			return
		}
		switch v := &values[at.field]; {
		case !IsNull(value) && (v.raw == nil || at.rank <= v.rank):
			*v = found{value, at.rank}
		case IsNull(value) && at.rank == v.rank: // of a member that stands twice the last one counts
			*v = found{}
		}
	})
	for i, v := range values {
		if v.raw == nil {
			continue
		}
		if err = d.value(v.raw, into.Field(i)); err != nil {
			return err.below(plan.fields[i][v.rank])
		}
	}
	return nil
}

// found is a member's value, and which of its names it came by.
type found struct {
	raw  []byte
	rank int
}

var (
	rawType    = reflect.TypeFor[json.RawMessage]()
	objectType = reflect.TypeFor[Object]()
)

func (d *decoder) value(raw []byte, into reflect.Value) *FieldError {
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return d.value(raw, into.Elem())
	case reflect.Struct:
		if !IsObject(raw) {
			return wrong("an object")
		}
		return d.object(raw, into)
	case reflect.Map:
		return d.texts(raw, into)
	case reflect.Slice:
		switch into.Type() {
		case rawType:
			into.SetBytes(raw)
			return nil
		case objectType:
			if !IsObject(raw) {
				return wrong("an object")
			}
			into.SetBytes(raw)
			return nil
		}
		return d.list(raw, into)
	}
	return scalarValue(raw, into)
}

func scalarValue(raw []byte, into reflect.Value) *FieldError {
	switch into.Kind() {
	case reflect.String:
		if raw[0] != '"' {
			return wrong("a string")
		}
		into.SetString(string(Text(raw)))
	case reflect.Bool:
		if raw[0] != 't' && raw[0] != 'f' {
			return wrong("true or false")
		}
		into.SetBool(raw[0] == 't')
	case reflect.Float64:
		n, ok := numberValue(raw)
		if !ok {
			return wrong("a number")
		}
		into.SetFloat(n)
	case reflect.Int32:
		n, ok := numberValue(raw)
		if !ok || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return wrong(fmt.Sprintf("an integer of at most %d", math.MaxInt32))
		}
		into.SetInt(int64(n))
	default:
		panic("jsonrpc: a field of type " + into.Type().String())
	}
	return nil
}

// maxNumber is how long a number may be, in bytes: none that means something is longer.
const maxNumber = 64

func numberValue(raw []byte) (float64, bool) {
	if len(raw) > maxNumber {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// list reads a list of strings or structs. It is counted before it is made.
func (d *decoder) list(raw []byte, into reflect.Value) (err *FieldError) {
	texts := into.Type().Elem().Kind() == reflect.String
	must := wrong("a list")
	if texts {
		must = wrong("a list of strings")
	}
	if raw[0] != '[' {
		return must
	}
	n := 0
	Elements(raw, func([]byte) { n++ })
	if err := d.take(n); err != nil {
		return err
	}
	into.Set(reflect.MakeSlice(into.Type(), n, n))
	i := 0
	Elements(raw, func(element []byte) {
		if err != nil {
			return
		}
		if err = d.value(element, into.Index(i)); err != nil && texts {
			err = must
		} else if err != nil {
			err = err.below("[" + strconv.Itoa(i) + "]")
		}
		i++
	})
	return err
}

// texts reads an object of strings.
func (d *decoder) texts(raw []byte, into reflect.Value) (err *FieldError) {
	if !IsObject(raw) {
		return wrong("an object of strings")
	}
	n := 0
	Members(raw, func(_, value []byte) {
		if n++; value[0] != '"' {
			err = wrong("an object of strings")
		}
	})
	if err != nil {
		return err
	}
	if err := d.take(n); err != nil {
		return err
	}
	m := make(map[string]string, n)
	Members(raw, func(name, value []byte) { m[string(name)] = string(Text(value)) })
	into.Set(reflect.ValueOf(m))
	return nil
}

func (d *decoder) take(n int) *FieldError {
	if d.left -= n; d.left < 0 {
		return &FieldError{Problem: fmt.Sprintf("has too many entries: all lists together may have %d", MaxItems)}
	}
	return nil
}
