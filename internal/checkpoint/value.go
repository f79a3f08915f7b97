// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"reflect"
	"slices"
)

// Value appends a hash of the type of v and then v, which may consist of truth values, numbers,
// text, lists, maps with text as keys, pointers, and structs, of which exported fields are kept.
// Other types are a programming error and panic.
func (e *Encoder) Value(v any) {
	x := reflect.ValueOf(v)
	e.Uint64(layout(x.Type()))
	e.value(x)
}

// Value reads into *v what Encoder.Value appended; v must have the same type.
func (d *Decoder) Value(v any) {
	x := reflect.ValueOf(v).Elem()
	if d.Uint64() != layout(x.Type()) {
		d.Fail("holds another kind of %v than this version of the program knows", x.Type())
		return
	}
	d.value(x)
}

// layout returns a hash of the structure of a type.
func layout(t reflect.Type) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, describe(t, nil)) // a hash takes everything
	return h.Sum64()
}

// describe writes out the structure of a type; within are the types that contain it.
func describe(t reflect.Type, within []reflect.Type) string {
	if slices.Contains(within, t) {
		panic(fmt.Sprintf("checkpoint: %v holds itself", t))
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64, reflect.String:
		return t.Kind().String()
	case reflect.Slice:
		return "[]" + describe(t.Elem(), within)
	case reflect.Array:
		if t.Len() == 0 {
			break
		}
		return fmt.Sprintf("[%d]%s", t.Len(), describe(t.Elem(), within))
	case reflect.Pointer:
		return "*" + describe(t.Elem(), within)
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return "map " + describe(t.Elem(), within)
		}
	case reflect.Struct:
		if least(t) == 0 {
			break // a list of them would be free
		}
		s := "{"
		for f := range t.Fields() {
			if f.IsExported() {
				s += f.Name + " " + describe(f.Type, within) + ";"
			}
		}
		return s + "}"
	}
	panic(fmt.Sprintf("checkpoint: %v cannot be kept", t))
}

// least returns the smallest number of bytes that a value of the type takes.
func least(t reflect.Type) int {
	switch t.Kind() {
	case reflect.Bool, reflect.Pointer, reflect.Uint8:
		return 1
	case reflect.Array:
		return t.Len() * least(t.Elem())
	case reflect.Struct:
		n := 0
		for f := range t.Fields() {
			if f.IsExported() {
				n += least(f.Type)
			}
		}
		return n
	}
	return 8
}

func (e *Encoder) value(x reflect.Value) {
	switch x.Kind() {
	case reflect.Bool:
		e.Bool(x.Bool())
	case reflect.Uint8:
		e.b = append(e.b, byte(x.Uint()))
		e.spill()
	case reflect.Int, reflect.Int32, reflect.Int64:
		e.Uint64(uint64(x.Int()))
	case reflect.Uint32, reflect.Uint64:
		e.Uint64(x.Uint())
	case reflect.Float32, reflect.Float64:
		e.Float(x.Float())
	case reflect.String:
		e.String(x.String())
	case reflect.Slice:
		e.slice(x)
	case reflect.Array:
		for i := range x.Len() {
			e.value(x.Index(i))
		}
	case reflect.Pointer:
		if e.Bool(!x.IsNil()); !x.IsNil() {
			e.value(x.Elem())
		}
	case reflect.Map:
		m := map[string]reflect.Value{}
		for k, v := range x.Seq2() {
			m[k.String()] = v
		}
		e.Int(len(m))
		for _, k := range slices.Sorted(maps.Keys(m)) {
			e.String(k)
			e.value(m[k])
		}
	case reflect.Struct:
		for f, v := range x.Fields() {
			if f.IsExported() {
				e.value(v)
			}
		}
	}
}

func (e *Encoder) slice(x reflect.Value) {
	switch v := x.Interface().(type) {
	case []byte:
		e.Bytes(v)
	case []int32:
		e.Int32s(v)
	case []float64:
		e.Floats(v)
	default:
		e.Int(x.Len())
		for i := range x.Len() {
			e.value(x.Index(i))
		}
	}
}

func (d *Decoder) value(x reflect.Value) {
	switch x.Kind() {
	case reflect.Bool:
		x.SetBool(d.Bool())
	case reflect.Uint8:
		if b := d.take(1); b != nil {
			x.SetUint(uint64(b[0]))
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if v := int64(d.Uint64()); !x.OverflowInt(v) {
			x.SetInt(v)
		} else {
			d.Fail("number %d is too large for %v", v, x.Type())
		}
	case reflect.Uint32, reflect.Uint64:
		if v := d.Uint64(); !x.OverflowUint(v) {
			x.SetUint(v)
		} else {
			d.Fail("number %d is too large for %v", v, x.Type())
		}
	case reflect.Float32, reflect.Float64:
		v := d.Float()
		if x.Kind() == reflect.Float32 && !math.IsNaN(v) && float64(float32(v)) != v {
			d.Fail("number %g is none of four bytes", v)
		}
		x.SetFloat(v)
	case reflect.String:
		x.SetString(d.String())
	case reflect.Slice:
		d.slice(x)
	case reflect.Array:
		for i := range x.Len() {
			d.value(x.Index(i))
		}
	case reflect.Pointer:
		if d.Bool() {
			x.Set(reflect.New(x.Type().Elem()))
			d.value(x.Elem())
		}
	case reflect.Map:
		d.keyed(x)
	case reflect.Struct:
		for f, v := range x.Fields() {
			if f.IsExported() {
				d.value(v)
			}
		}
	}
}

// slice reads a list; an empty list becomes nil.
func (d *Decoder) slice(x reflect.Value) {
	switch to := x.Addr().Interface().(type) {
	case *[]byte:
		*to = d.Bytes()
	case *[]int32:
		*to = d.Int32s()
	case *[]float64:
		*to = d.Floats()
	default:
		x.SetZero()
		item := reflect.New(x.Type().Elem()).Elem()
		d.Items(least(item.Type()), func(int) {
			item.SetZero()
			d.value(item)
			x.Set(reflect.Append(x, item))
		})
		return
	}
	if x.Len() == 0 {
		x.SetZero()
	}
}

// keyed reads a map, whose keys are stored in order.
func (d *Decoder) keyed(x reflect.Value) {
	x.Set(reflect.MakeMap(x.Type()))
	last := ""
	item := reflect.New(x.Type().Elem()).Elem()
	d.Items(8+least(item.Type()), func(i int) {
		key := d.String()
		if i > 0 && key <= last {
			d.Fail("key %q stands behind %q", key, last)
		}
		last = key
		item.SetZero()
		if d.value(item); d.err == nil {
			x.SetMapIndex(reflect.ValueOf(key).Convert(x.Type().Key()), item)
		}
	})
}
