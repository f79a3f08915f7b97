// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package dict compares trees of draws with the reference's dictionary of them for tests.
package dict

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// Compare holds that a tree has the groups and variables of from_dict.json, with equal numbers, of its kinds, on the axes chain and
// draw and others, and that the others have labels.
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
				if c := d.Coord(dim); c == nil && !strings.Contains(dim, "_dim_") || c != nil && c.DType() != "string" && c.DType() != "int64" {
					t.Errorf("%s/%s: the axis %s has the labels %v", group, name, dim, c)
				}
			}
		}
	}
}

// kind returns the type of the elements of nested lists.
func kind(text json.RawMessage) string {
	switch t := string(text); {
	case strings.Contains(t, "true") || strings.Contains(t, "false"):
		return "bool"
	case strings.ContainsAny(t, ".eEN"): // a point, an exponent or NaN
		return "float64"
	}
	return "int64"
}
