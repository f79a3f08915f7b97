// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Axes come first in every variable that has them, of every type; the others stay.
func TestLeading(t *testing.T) {
	d := tensor.NewDataset("posterior")
	for _, v := range []tensor.Variable{
		{Name: "mu", Data: []float64{0, 10, 1, 11, 2, 12}, Shape: tensor.Shape{3, 2}, Dims: []string{"draw", "chain"}},
		{Name: "theta", Data: []int64{0, 10, 1, 11, 2, 12, 100, 110, 101, 111, 102, 112}, Shape: tensor.Shape{2, 3, 2}, Dims: []string{"school", "draw", "chain"}},
		{Name: "flag", Data: []bool{true, false, true, false, false, false}, Shape: tensor.Shape{2, 3}, Dims: []string{"chain", "draw"}},
		{Name: "word", Data: []string{"a", "b", "c", "d", "e", "f"}, Shape: tensor.Shape{3, 2}, Dims: []string{"draw", "chain"}},
		{Name: "other", Data: []float64{7, 8, 9}, Shape: tensor.Shape{3}, Dims: []string{"draw"}},
		{Name: "none", Data: []float64{}, Shape: tensor.Shape{3, 0, 2}, Dims: []string{"draw", "nothing", "chain"}},
	} {
		if err := d.AddVariable(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.AddCoord("draw", []int64{5, 6, 7}); err != nil {
		t.Fatal(err)
	}
	out, err := d.Leading("chain", "draw")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"mu": []float64{0, 1, 2, 10, 11, 12}, "theta": []int64{0, 100, 1, 101, 2, 102, 10, 110, 11, 111, 12, 112},
		"flag": []bool{true, false, true, false, false, false}, "word": []string{"a", "c", "e", "b", "d", "f"}, "other": []float64{7, 8, 9}, "none": []float64{}} {
		if got := out.Var(name).Data; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if v := out.Var("theta"); !slices.Equal(v.Dims, []string{"chain", "draw", "school"}) || !v.Shape.Equal(tensor.Shape{2, 3, 2}) || out.Coord("draw") == nil {
		t.Errorf("%v %v", v.Dims, v.Shape)
	}
	if again, err := out.Leading("chain", "draw"); err != nil || again != out {
		t.Errorf("%v, %v: want the dataset itself", again, err)
	}
}
