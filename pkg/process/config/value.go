package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

var durationType = reflect.TypeFor[time.Duration]()

// settable reports whether setText knows the type of v.
func settable(v reflect.Value) bool {
	if _, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return true
	}
	switch v.Kind() {
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Slice:
		return v.Type().Elem().Kind() == reflect.String
	default:
		return false
	}
}

// setText parses text as v's type requires. Its errors say what would be right; they may quote text.
func setText(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	if v.Type() == durationType {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration, such as 300ms, 20s or 5m", text)
		}
		v.SetInt(int64(d))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is not true or false", text)
		}
		v.SetBool(b)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		v.SetFloat(f)
	case reflect.Slice:
		setList(v, splitList(text))
	default:
		return setInteger(v, text)
	}
	return nil
}

func setInteger(v reflect.Value, text string) error {
	if v.CanUint() {
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is not a whole number of at most %d bits, 0 or more", text, v.Type().Bits())
		}
		v.SetUint(n)
		return nil
	}
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if err != nil {
		return fmt.Errorf("%q is not a whole number of at most %d bits", text, v.Type().Bits())
	}
	v.SetInt(n)
	return nil
}

// setList makes v hold items, whatever its element type is called.
func setList(v reflect.Value, items []string) {
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		list.Index(i).SetString(item)
	}
	v.Set(list)
}

// splitList reads "a, b": items between commas, without the blanks around them; empty ones do not count.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// joinList is the inverse of splitList.
func joinList(v reflect.Value) string {
	items := make([]string, v.Len())
	for i := range items {
		items[i] = v.Index(i).String()
	}
	return strings.Join(items, ",")
}
