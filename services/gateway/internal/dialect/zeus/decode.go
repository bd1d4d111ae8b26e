package zeus

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/hecaton-dev/hecaton/pkg/jsonrpc"
)

// decode reads the members of a skimmed message into the fields of a struct, each by its exact name: encoding/json alone
// would take "Status" for "status". Others are ignored. The error is for the client: it names the member and its type.
func decode(frame []byte, into any) error {
	fields := reflect.ValueOf(into).Elem()
	names := make([]string, fields.NumField())
	for i := range names {
		names[i] = fields.Type().Field(i).Tag.Get("json")
	}
	members := jsonrpc.RawMembers(frame, names...)
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
