package jsonrpc

import (
	"reflect"
	"sync"
)

// plan is what [Decode] knows of a struct's type.
type plan struct {
	fields [][]string // the names of each
	names  map[string]place
}

// place is the field that a name means, and its rank among that field's names.
type place struct{ field, rank int }

var plans sync.Map // of reflect.Type to *plan

func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	p := &plan{fields: make([][]string, t.NumField()), names: make(map[string]place)}
	for i := range p.fields {
		tag := t.Field(i).Tag
		p.fields[i] = []string{tag.Get("json")}
		if also := tag.Get("also"); also != "" {
			p.fields[i] = append(p.fields[i], also)
		}
		for rank, name := range p.fields[i] {
			p.names[name] = place{i, rank}
		}
	}
	known, _ := plans.LoadOrStore(t, p)
	return known.(*plan)
}
