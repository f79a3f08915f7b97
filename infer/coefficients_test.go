// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// shrunk is a regression of which the prior of the coefficients has an unknown scale.
func shrunk(t *testing.T, coefficients, data int, scale float64) *Posterior {
	t.Helper()
	random := tensor.NewStream(uint64(1000*coefficients+data), 0, 0)
	x, beta, y := make([]float64, data*coefficients), make([]float64, coefficients), make([]float64, data)
	random.NormalTo(x)
	random.NormalTo(beta)
	for i := range y {
		for j, b := range beta {
			y[i] += x[i*coefficients+j] * b * scale
		}
		y[i] += random.Normal()
	}
	m := NewModel("shrunk")
	tau, sigma := m.Param("tau", dist.HalfNormal(1)), m.Param("sigma", dist.HalfNormal(1))
	b := m.Param("b", dist.Normal(0, tau), Shape(coefficients))
	m.Observe("y", dist.Normal(ad.MatMul(m.Data("x", x, Shape(data, coefficients)), b), sigma), y)
	return compiled(t, m)
}

// Coefficients whose prior has an unknown scale are sampled where there are twice as many data, and integrated out where there are fewer. The log of the slow tier has effective
// draws for each second of the processor as it was chosen, and with all parameters.
func TestCoefficientsOfUnknownScale(t *testing.T) {
	for _, c := range []struct {
		coefficients, data int
		scale              float64
		out                bool
	}{{9, 200, 1, false}, {20, 200, 1, false}, {20, 200, 0.05, false}, {20, 40, 0.1, false}, {20, 20, 1, true}, {20, 10, 0.3, true}, {50, 60, 1, true}, {100, 60, 0.3, true}, {10, 2000, 0.3, false}} {
		p := shrunk(t, c.coefficients, c.data, c.scale)
		if out := marginalOf(integrate(p, false)) != nil; out != c.out {
			t.Errorf("%d coefficients, %d data: integrated out: %v, want %v", c.coefficients, c.data, out, c.out)
		}
		if !tier.Slow || !c.out {
			continue
		}
		text := ""
		for _, all := range []bool{false, true} {
			begin := peer.CPUTime()
			fit := mustSample(t, p, Settings{Seed: 1, NoMarginals: all})
			warm, kept := fit.Gradients()
			least := math.Inf(1)
			for _, r := range fit.Summary().Rows {
				least = min(least, r.ESSBulk)
			}
			text += fmt.Sprintf(", %.4f for each gradient and %.0f for each second", least/float64(warm+kept), least/(peer.CPUTime()-begin))
		}
		t.Logf("%d coefficients, %d data%s", c.coefficients, c.data, text)
	}
}
