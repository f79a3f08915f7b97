// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// lengths at which groups, warps and blocks begin and end.
var lengths = []int{0, 1, 31, 32, 33, 255, 256, 257, 1_000_001}

func TestElementwise(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	e, err := d.Elementwise(Map{Name: "axpb_tanh", Inputs: []string{"x", "y"}, Expression: "tanhf(1.5f * x + y)"})
	if err != nil {
		t.Fatal(err)
	}
	for mode := pretend.Eager; mode <= pretend.Random; mode++ {
		for order := pretend.Ascending; order <= pretend.Shuffled; order++ {
			for _, n := range lengths {
				if n > 1000 && mode != order {
					continue // the long one three times is enough
				}
				lib.Set("mode", mode)
				lib.Set("order", order)
				t.Run(fmt.Sprintf("mode%d/order%d/%d", mode, order, n), func(t *testing.T) { checkElementwise(t, d, e, n) })
			}
		}
	}
}

func checkElementwise(t *testing.T, d *Device, e *Elementwise, n int) {
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(i%97)/50-1, float32(i%31)/20
	}
	a, b, out := alloc(t, d, x, 4*n), alloc(t, d, y, 4*n), alloc(t, d, nil, 4*n)
	if err := e.Run(d.Default(), n, out, a, b); err != nil {
		t.Fatal(err)
	}
	for i, got := range floats(t, d.Default(), out, n) {
		if want := math.Tanh(1.5*float64(x[i]) + float64(y[i])); math.Abs(float64(got)-want) > 4e-7 {
			t.Fatalf("element %d is %g, want %g", i, got, want)
		}
	}
	for _, b := range []*Buffer{a, b, out} {
		b.Free()
	}
}

// In place, in float64, and a second map behind it on the same stream.
func TestElementwiseInPlace(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	twice, err := d.Elementwise(Map{Name: "twice", Type: Float64, Inputs: []string{"x"}, Expression: "2.0 * x"})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 1003)
	for i := range x {
		x[i] = float64(i)
	}
	b := alloc(t, d, x, 8*len(x))
	defer b.Free()
	for range 3 {
		if err := twice.Run(d.Default(), len(x), b, b); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]float64, len(x))
	if err := d.CopyOut(background, got, b, 0); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != 8*float64(i) {
			t.Fatalf("element %d is %g", i, got[i])
		}
	}
	short, _ := d.Alloc(16)
	defer short.Free()
	for _, err := range []error{twice.Run(d.Default(), 3, short, b), twice.Run(d.Default(), 1, b), twice.Run(d.Default(), -1, b, b)} {
		if err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("got %v, want an error that names the map", err)
		}
	}
	short.Free()
	if err := twice.Run(d.Default(), 1, short, b); !errors.Is(err, ErrClosed) {
		t.Errorf("a freed buffer: got %v, want ErrClosed", err)
	}
}
