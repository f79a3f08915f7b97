// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// reduced holds the curves that NRSS makes of images of cases.
type reduced struct {
	Cases    map[string]string `json:"input_cases"` // to the case of each name in arrays
	Energies []float64
	PhysSize float64   `json:"PhysSize_nm"`
	Wedges   []float64 `json:"wedges_deg"`
	arrays   map[string]*tensor.Tensor
}

func readReduced(t *testing.T) (r reduced) {
	golden.JSON(t, &r, "scatter", "reduce", "reduce.json")
	r.arrays = npz(t, "scatter", "reduce", "reduce.npz")
	return r
}

func (r reduced) pattern(t *testing.T, id string) *Pattern {
	images := npz(t, "scatter", "cases", id, "expected.npz")["images"]
	s := images.Shape()
	return &Pattern{Energies: r.Energies, QY: Frequencies(s[2], r.PhysSize), QX: Frequencies(s[3], r.PhysSize), Intensity: images}
}

func TestReductions(t *testing.T) {
	ref := readReduced(t)
	want := ref.arrays
	for name, id := range ref.Cases {
		p := ref.pattern(t, id)
		for _, w := range ref.Wedges {
			for axis, part := range map[QAxis]string{Absolute: "", Common: "_common"} {
				d, err := Reduction{Wedge: w, Axis: axis}.NewReducer(p)
				if err != nil {
					t.Fatal(err)
				}
				curves, err := d.Reduce(p)
				if err != nil {
					t.Fatal(err)
				}
				id := fmt.Sprintf("%s_w%g%s", name, w, part)
				var got []float64
				for e := range p.Energies {
					for _, k := range []*tensor.Tensor{curves.I, curves.Para, curves.Perp} {
						got = append(got, k.Float64s()[e*d.n:(e+1)*d.n]...)
					}
					q := want["q_abs"].Float64s()[e*d.n : (e+1)*d.n]
					if axis == Common {
						q = want["q_common"].Float64s()
					}
					same(t, id+" q", curves.Q[e], q)
				}
				same(t, id, got, want[id+"_I_para_perp"].Float64s())
				if axis == Absolute {
					same(t, id+" A", curves.A.Float64s(), want[fmt.Sprintf("%s_w%g_A", name, w)].Float64s())
				}
			}
		}
	}
}

// same compares to 1e-9 of the largest number.
func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	top := 0.0
	for _, w := range want {
		if w == w {
			top = max(top, math.Abs(w))
		}
	}
	for i, w := range want {
		if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > 1e-9*top {
			t.Errorf("%s: element %d is %g, want %g", what, i, got[i], w)
			return
		}
	}
}

// The gradient of reduced curves agrees with differences, for every rule.
func TestReductionGradient(t *testing.T) {
	images := noise(11, 0.5, 2, 3, 1, 48, 48)
	for i := range 300 { // rows that the detector does not see
		images.Data().([]float64)[i] = math.NaN()
	}
	p := &Pattern{Energies: []float64{284.4, 285.2, 288.6}, QY: Frequencies(48, 5), QX: Frequencies(48, 5), Intensity: images}
	src := tensor.NewStream(3, 1, 0)
	for _, r := range []Reduction{{}, {Axis: Common}, {Radii: PixelRadii, Axis: Absolute}, {Radii: TrueRadii, Wedge: 20, Axis: Common}} {
		d, err := r.NewReducer(p)
		if err != nil {
			t.Fatal(err)
		}
		by := &Curves{}
		for _, k := range []**tensor.Tensor{&by.I, &by.Para, &by.Perp, &by.A} {
			*k = tensor.New(tensor.Float64, 3, 1, d.n)
			src.NormalTo((*k).Data().([]float64))
		}
		g, err := d.Gradient(p, by)
		if err != nil {
			t.Fatal(err)
		}
		value := func() (sum float64) {
			c, err := d.Reduce(p)
			if err != nil {
				t.Fatal(err)
			}
			for i, k := range []*tensor.Tensor{c.I, c.Para, c.Perp, c.A} {
				b := []*tensor.Tensor{by.I, by.Para, by.Perp, by.A}[i].Float64s()
				for j, v := range k.Float64s() {
					if v == v {
						sum += b[j] * v
					}
				}
			}
			return sum
		}
		data, grad := images.Data().([]float64), g.Float64s()
		for _, at := range []int{24*48 + 24, 20*48 + 30, 2304 + 24*48 + 40, 5000, 6000} {
			old := data[at]
			if old == 0 {
				continue
			}
			h := 1e-5 * old
			data[at] = old + h
			up := value()
			data[at] = old - h
			down := value()
			data[at] = old
			if fd := (up - down) / (2 * h); math.Abs(fd-grad[at]) > 1e-6*math.Max(1, math.Abs(fd)) {
				t.Errorf("%+v pixel %d: %g, differences say %g", r, at, grad[at], fd)
			}
		}
	}
}
