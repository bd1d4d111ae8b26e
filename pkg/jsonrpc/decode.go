package jsonrpc

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
)

// Decode reads members of an object into the fields of a struct, each by the exact name in its json tag: encoding/json
// alone would take "Status" for "status". Other members are ignored. The error is for whoever sent the object:
// [ErrNotObject], a *[SyntaxError], or it names the member and the type that it must have.
func Decode(object []byte, into any) error {
	fields := reflect.ValueOf(into).Elem()
	names := make([]string, fields.NumField())
	for i := range names {
		names[i] = fields.Type().Field(i).Tag.Get("json")
	}
	members, err := RawMembers(object, names...)
	if err != nil {
		return err
	}
	for i, name := range names {
		raw, field := members[name], fields.Field(i)
		if raw != nil && json.Unmarshal(raw, field.Addr().Interface()) != nil {
			return fmt.Errorf("%s must be %s", name, typeName(field.Type()))
		}
	}
	return nil
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Int32:
		return fmt.Sprintf("an integer of at most %d", math.MaxInt32)
	case reflect.Slice:
		return "a list of strings"
	case reflect.Map:
		return "an object"
	}
	return "a string"
}
