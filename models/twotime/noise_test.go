// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Errors of entries that share frames, and the likelihood of whole matrices, are those of direct sums.
func TestNoiseGoldens(t *testing.T) {
	var c struct {
		Model            string
		T                []float64
		DT, Q            float64
		Theta            []float64
		Contrast, Offset float64
		InverseCount     float64 `json:"inv_count"`
		Speckles         float64 `json:"P_eff"`
		C, V             [][]float64
		Sandwich         struct {
			H, Q, Cov [][]float64
			Effective float64 `json:"n_eff"`
		}
		Wishart struct {
			S      [][]float64
			LogLik float64
			Grad   []float64
		}
	}
	golden.JSON(t, &c, "xpcs", "twotime", "noise.json")
	n := len(c.T)
	s := transport.Setup{Model: transport.Model(c.Model), Times: c.T, Q: c.Q, Angles: []float64{0}}
	theta, err := s.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	contrast, offset, inverse := ad.Input("contrast"), ad.Input("offset"), ad.Input("inverse count")
	g := s.Pairs(theta, transport.Square(n))[0]
	c2 := ad.Add(ad.Mul(contrast, g), offset)
	in := append([]*ad.Node{contrast, offset, inverse}, theta...)
	at := append([]float64{c.Contrast, c.Offset, c.InverseCount}, c.Theta...)
	measured := make([]float64, 0, n*n)
	for _, row := range c.Wishart.S {
		measured = append(measured, row...)
	}
	like := twotime.Wishart(g, contrast, offset, inverse, ad.Scalar(c.Speckles), ad.Const(measured, n, n))
	outs := []*ad.Node{c2, like}
	fitted := append([]*ad.Node{contrast, offset}, theta...)
	for a := range fitted {
		along := make([]*ad.Node, len(fitted))
		for i := range along {
			along[i] = ad.Scalar(0)
		}
		along[a] = ad.Scalar(1)
		outs = append(outs, ad.JVP(c2, fitted, along))
	}
	first := len(outs)
	outs = append(outs, ad.Grad(like, in...)...)
	p, err := ad.Compile(outs, ad.Settings{Inputs: in})
	if err != nil {
		t.Fatal(err)
	}
	st := p.NewState()
	for i, v := range at {
		st.Input(i)[0] = v
	}
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	model, weights := make([]float64, n*n), make([]float64, n*n)
	pair := 0
	for i := range n {
		for j := i; j < n; j++ {
			v := st.Output(0)[i*n+j] - 1
			if i == j {
				v += c.InverseCount
			} else {
				weights[i*n+j], weights[j*n+i] = 1/c.V[pair][pair], 1/c.V[pair][pair]
				pair++
			}
			model[i*n+j], model[j*n+i] = v, v
			if math.Abs(v-c.C[i][j]) > 1e-12 {
				t.Errorf("C %d %d is %g, want %g", i, j, v, c.C[i][j])
			}
		}
	}
	var derivatives [][]float64
	for k := range fitted {
		derivatives = append(derivatives, st.Output(2+k))
	}
	scores := twotime.Noise{Speckles: c.Speckles, InverseCount: c.InverseCount}.Scores(n, model, weights, derivatives)
	cov, effective, err := scores.Sandwich()
	if err != nil {
		t.Fatal(err)
	}
	h, q := scores.H, scores.Q
	for name, pair := range map[string][2]any{"H": {h, c.Sandwich.H}, "Q": {q, c.Sandwich.Q}, "covariance": {cov, c.Sandwich.Cov}} {
		got, want := pair[0].(*mat.SymDense), pair[1].([][]float64)
		for i := range want {
			for j := range want {
				if scale := math.Sqrt(want[i][i] * want[j][j]); !(math.Abs(got.At(i, j)-want[i][j]) <= 1e-9*scale) {
					t.Errorf("%s %d %d is %.12g, want %.12g", name, i, j, got.At(i, j), want[i][j])
				}
			}
		}
	}
	if math.Abs(effective-c.Sandwich.Effective) > 1e-9*c.Sandwich.Effective {
		t.Errorf("%.12g effective entries, want %.12g", effective, c.Sandwich.Effective)
	}
	if got := st.Output(1)[0]; math.Abs(got-c.Wishart.LogLik) > 1e-9*math.Abs(c.Wishart.LogLik) {
		t.Errorf("log likelihood %.13g, want %.13g", got, c.Wishart.LogLik)
	}
	largest := 0.0
	for _, v := range c.Wishart.Grad {
		largest = max(largest, math.Abs(v))
	}
	for i, want := range c.Wishart.Grad {
		if got := st.Output(first + i)[0]; math.Abs(got-want) > 1e-8*largest {
			t.Errorf("derivative %d is %.12g, want %.12g", i, got, want)
		}
	}
}
