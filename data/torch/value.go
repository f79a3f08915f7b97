// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// List is a Python list.
type List []any

// Tuple is a Python tuple.
type Tuple []any

// DType is an element type used as a value, such as float32.
type DType string

// Dict is a Python dictionary, in the order of its items.
type Dict struct {
	// Ordered reports whether the dictionary is an OrderedDict, as state dictionaries are.
	Ordered bool
	Items   []Item
}

// Item is a key, which is a string or int64, with its value.
type Item struct {
	Key   any
	Value any
}

// Get returns the value of a key, or nil.
func (d *Dict) Get(key string) any {
	if d == nil {
		return nil
	}
	for _, it := range d.Items {
		if it.Key == key {
			return it.Value
		}
	}
	return nil
}

// Set gives a key a value. It replaces the value of an existing key, or appends a new item.
func (d *Dict) Set(key string, value any) {
	for i := range d.Items {
		if d.Items[i].Key == key {
			d.Items[i].Value = value
			return
		}
	}
	d.Items = append(d.Items, Item{key, value})
}

// Keys returns the keys that are strings, in order.
func (d *Dict) Keys() []string {
	var out []string
	for _, it := range d.Items {
		if s, ok := it.Key.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Tensor returns the tensor under a key.
func (d *Dict) Tensor(key string) (*Tensor, error) {
	switch v := d.Get(key).(type) {
	case *Tensor:
		return v, nil
	case nil:
		return nil, &MissingError{Format: "torch", Name: key, Near: spelling.Sorted(key, d.Keys())}
	default:
		return nil, &FormatError{Format: "torch", Place: key, What: fmt.Sprintf("the value is a %T, not a tensor", v), Err: ErrType, Try: "use Get"}
	}
}
