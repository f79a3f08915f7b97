// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

func TestFieldsAreTensors(t *testing.T) {
	for _, f := range []Field{{Float32: []float32{1, 2, 3, 4, 5, 6}}, {Float64: []float64{1, 2, 3, 4, 5, 6}}} {
		a, err := f.Tensor(1, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		f.set(1, 7) // the memory is the same
		if got := a.Float64s(); !slices.Equal(got, []float64{1, 7, 3, 4, 5, 6}) {
			t.Error(got)
		}
		back, err := FieldOf(a.Permute(2, 1, 0))
		if err != nil || !slices.Equal(back.Float64s(), []float64{1, 4, 7, 5, 3, 6}) || !slices.Equal(back.Float32s(), []float32{1, 4, 7, 5, 3, 6}) {
			t.Error(back, err)
		}
		if _, err := f.Tensor(2, 2); err == nil {
			t.Error("six numbers are not 2 x 2")
		}
	}
	if a, err := (Field{}).Tensor(3); a != nil || err != nil {
		t.Error(a, err)
	}
	if f, err := FieldOf(nil); !f.IsZero() || err != nil {
		t.Error(f, err)
	}
	if _, err := FieldOf(tensor.New(tensor.Int64, 3)); err == nil || !strings.Contains(err.Error(), "array: it holds int64 of the shape") {
		t.Error(err)
	}
}
