// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// The tangent along a random direction and the gradient of a random sum of pixels
// are transposes of each other, in every geometry and precision.
func TestTangentIsTheTransposeOfTheGradient(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(golden.Base(c.dir), func(t *testing.T) { c.checkTangent(t) })
	}
}

func (c *goldenCase) checkTangent(t *testing.T) {
	cfg := c.Config.config()
	m := morphology(t, c.Morphology, c.PhysSize)
	for i := range m.Materials { // in 64 bits, so that nothing is lost
		for _, f := range m.Materials[i].fields() {
			*f.at = (*f.at).Convert(tensor.Float64)
		}
	}
	o := c.Optical.optics(cfg.Energies)
	s, err := New(m.Shape(), m.PhysSize, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Transform(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	src := tensor.NewStream(7, 1, 0)
	dm, do := make([]Material, len(m.Materials)), make(Optics, len(o))
	for i := range dm {
		dm[i] = m.Materials[i]
		for _, f := range dm[i].fields() {
			*f.at = tensor.New(tensor.Float64, (*f.at).Shape()...)
			src.NormalTo((*f.at).Data().([]float64))
		}
	}
	for e := range o {
		for range o[e] {
			do[e] = append(do[e], Constants{1e-3 * src.Normal(), 1e-3 * src.Normal(), 1e-3 * src.Normal(), 1e-3 * src.Normal()})
		}
	}
	along, err := s.Tangent(context.Background(), o, dm, do)
	if err != nil {
		t.Fatal(err)
	}
	w := tensor.New(tensor.Float64, along.Shape()...)
	src.NormalTo(w.Data().([]float64))
	g, err := s.Gradient(context.Background(), o, w)
	if err != nil {
		t.Fatal(err)
	}
	left, right, size := 0.0, 0.0, 0.0
	for i, v := range along.Data().([]float64) {
		if v == v {
			left += v * w.Data().([]float64)[i]
		}
	}
	add := func(a, b float64) { right += a * b; size += math.Abs(a * b) }
	for i := range dm {
		fields := dm[i].fields()
		for k, f := range g.Materials[i].fields() {
			for j, v := range (*f.at).Float64s() {
				add(v, (*fields[k].at).Data().([]float64)[j])
			}
		}
	}
	for e := range do {
		for k, d := range do[e] {
			v := g.Optics[e][k]
			add(v.DeltaPara, d.DeltaPara)
			add(v.BetaPara, d.BetaPara)
			add(v.DeltaPerp, d.DeltaPerp)
			add(v.BetaPerp, d.BetaPerp)
		}
	}
	if math.Abs(left-right) > 1e-12*size || left == 0 {
		t.Errorf("%v along the direction, %v by the gradient", left, right)
	}
}

// The same after CollapseZ, whose mean is over the tensor: of volumes that are not
// uniform it is not the tensor of the mean. Differences say so too.
func TestCollapsedGradient(t *testing.T) {
	m, o := blend3([3]int{5, 6, 7}, 2)
	cfg := testConfig()
	cfg.CollapseZ = true
	s, p := simulated(t, m, o, cfg)
	w := noise(9, -1, 1, p.Intensity.Shape()...)
	g, err := s.Gradient(context.Background(), o, w)
	if err != nil {
		t.Fatal(err)
	}
	sum := func() (sum float64) {
		for k, v := range image(t, m, o, cfg) {
			if v == v {
				sum += w.Float64s()[k] * v
			}
		}
		return sum
	}
	for i := range m.Materials {
		grads := g.Materials[i].fields()
		for k, f := range m.Materials[i].fields() {
			data := (*f.at).Data().([]float64)
			for _, at := range []int{3, len(data) / 2, len(data) - 2} {
				const h = 1e-3
				v, sums := data[at], [4]float64{}
				for j, d := range []float64{-2, -1, 1, 2} {
					data[at] = v + d*h
					sums[j] = sum()
				}
				data[at] = v
				got, want := (*grads[k].at).Float64s()[at], (8*(sums[2]-sums[1])-(sums[3]-sums[0]))/(12*h)
				if math.Abs(got-want) > 1e-7*(math.Abs(want)+math.Abs(got)) {
					t.Errorf("material %d: %s at %d is %g, differences say %g", i+1, f.name, at, got, want)
				}
			}
		}
	}
}
