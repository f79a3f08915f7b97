// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// forward is a case of the reference: correlations of all pairs, and the sum of squares with its gradient.
type forward struct {
	Name, ID          string
	Model, Convention string
	T                 []float64
	DT, Q, L          float64
	Phi, Theta        []float64
	Contrast, Offset  []float64
	Y, Sigma, Mask    [][]golden.Float
	C2                [][]golden.Float
	SSQ               golden.Float
	Grad              []golden.Float
	GradScale         []golden.Float `json:"grad_scale"`
	Expect            string
}

func (c *forward) setup() transport.Setup {
	m := transport.Model(c.Model)
	if c.Model == "heterodyne" {
		m = transport.TwoComponent
	}
	return transport.Setup{Model: m, Times: c.T, Q: c.Q, Gap: c.L, Angles: c.Phi, Customary: c.Convention == "compat", Step: c.DT}
}

// Correlations, sums of squares and gradients are those of the reference, in both conventions; parameters without a meaning are named.
func TestForwardGoldens(t *testing.T) {
	var all struct{ Cases []forward }
	golden.JSON(t, &all, "xpcs", "twotime", "forward.json")
	if len(all.Cases) == 0 {
		t.Fatal("no cases")
	}
	for i, c := range all.Cases {
		name := fmt.Sprintf("%d %s%s %s", i, c.Name, c.ID, c.Convention)
		s := c.setup()
		theta, err := s.Inputs()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fault := s.Domain(c.Theta)
		if c.Expect == "invalid" {
			var domain *transport.DomainError
			if !errors.As(fault, &domain) || domain.Parameter == "" {
				t.Errorf("%s: %v, want a fault of a parameter", name, fault)
			}
			continue
		}
		if fault != nil {
			t.Errorf("%s: %v", name, fault)
		}
		c.check(t, name, s, theta)
	}
}

func (c *forward) check(t *testing.T, name string, s transport.Setup, theta []*ad.Node) {
	t.Helper()
	var in []*ad.Node
	var at [][]float64
	add := func(list []float64, label string) (nodes []*ad.Node) {
		for range list {
			nodes = append(nodes, ad.Input(label))
		}
		in = append(in, nodes...)
		for _, v := range list {
			at = append(at, []float64{v})
		}
		return nodes
	}
	contrast, offset := add(c.Contrast, "contrast"), add(c.Offset, "offset")
	in = append(in, theta...)
	for _, v := range c.Theta {
		at = append(at, []float64{v})
	}
	var outs []*ad.Node
	ssq := ad.Scalar(0)
	for k, g := range s.Pairs(theta, transport.AllPairs(len(c.T))) {
		c2 := ad.Add(offset[k], ad.Mul(contrast[k], g))
		weight := make([]float64, len(c.Y[k]))
		for i := range weight {
			weight[i] = float64(c.Mask[k][i]) / float64(c.Sigma[k][i])
		}
		outs = append(outs, c2)
		ssq = ad.Add(ssq, ad.Sum(ad.Square(ad.Mul(ad.Const(weight), ad.Sub(c2, ad.Const(floats(c.Y[k])))))))
	}
	outs = append(append(outs, ssq), ad.Grad(ssq, in...)...)
	p, err := ad.Compile(outs, ad.Settings{Inputs: in})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	st := p.NewState()
	for i, v := range at {
		if err := st.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Run(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for k := range c.C2 {
		for i, want := range c.C2[k] {
			if got := st.Output(k)[i]; !(math.Abs(got-float64(want)) <= 1e-12) {
				t.Errorf("%s: angle %d, pair %d: %.17g, want %.17g", name, k, i, got, float64(want))
				break
			}
		}
	}
	k := len(c.C2)
	if got, want := st.Output(k)[0], float64(c.SSQ); !(math.Abs(got-want) <= 1e-10*math.Abs(want)) {
		t.Errorf("%s: sum of squares %.17g, want %.17g", name, got, want)
	}
	for i, want := range c.Grad {
		got := st.Output(k + 1 + i)[0]
		if !(math.Abs(got-float64(want)) <= 1e-9*max(float64(c.GradScale[i]), 0.1)) {
			t.Errorf("%s: derivative %d is %.15g, want %.15g (scale %g)", name, i, got, float64(want), float64(c.GradScale[i]))
		}
	}
}

func floats(v []golden.Float) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
