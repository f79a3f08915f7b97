// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package dict compares trees of draws with the reference's dictionary of them for tests.
package dict

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// Compare holds that a tree has the groups and variables of from_dict.json, with equal numbers, of its kinds, on the axes chain and
// draw and others, and that labels of the others are texts.
func Compare(t *testing.T, tree *tensor.DataTree) {
	t.Helper()
	var want map[string]map[string]json.RawMessage
	golden.JSON(t, &want, "inference/inferencedata/from_dict.json")
	for group, vars := range want {
		d, err := tree.Group(group)
		if err != nil {
			t.Error(err)
			continue
		}
		for name, text := range vars {
			var a golden.Array
			if err := json.Unmarshal(text, &a); err != nil {
				t.Fatal(err)
			}
			v := d.Var(name)
			if v == nil {
				t.Errorf("%s has no %s", group, name)
				continue
			}
			if got := v.Floats(); !reflect.DeepEqual(got, a.Data) || !reflect.DeepEqual([]int(v.Shape), a.Shape) {
				t.Errorf("%s/%s is %v, want %v", group, name, got, a.Data)
			}
			if v.DType() != kind(text) {
				t.Errorf("%s/%s is %s, want %s", group, name, v.DType(), kind(text))
			}
			if v.Dims[0] != "chain" || v.Dims[1] != "draw" {
				t.Errorf("%s/%s has the axes %v", group, name, v.Dims)
			}
			for _, dim := range v.Dims[2:] {
				if c := d.Coord(dim); c == nil || c.DType() != "string" {
					t.Errorf("%s/%s: the axis %s has no labels", group, name, dim)
				}
			}
		}
	}
}

// kind returns the type of the elements of nested lists.
func kind(text json.RawMessage) string {
	var v any
	json.Unmarshal(text, &v)
	whole := true
	var first any
	var walk func(v any)
	walk = func(v any) {
		if list, ok := v.([]any); ok {
			for _, x := range list {
				walk(x)
			}
			return
		}
		if first == nil {
			first = v
		}
		x, number := v.(float64)
		whole = whole && number && x == float64(int64(x))
	}
	walk(v)
	switch _, truth := first.(bool); {
	case truth:
		return "bool"
	case whole:
		return "int64"
	}
	return "float64"
}
