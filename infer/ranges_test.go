// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Priors that lead parameters of the likelihood out of their ranges: the posterior is that of what is left, and the verdict names the
// parameter, its range, the share of the prior that is lost, and a link.
func TestPriorsOutOfRange(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(m *Model)
		mean  float64 // of a
		share string  // of the prior, as the verdict says; "" for none
	}{
		{"poisson", func(m *Model) { m.Observe("y", dist.Poisson(m.Param("a", dist.Normal(0, 10))), []float64{0, 0, 0}) }, 0.3301, "% of the draws"},
		{"binomial", func(m *Model) {
			m.Observe("y", dist.Binomial(10, m.Param("a", dist.Normal(0, 5))), []float64{0, 1, 0})
		}, 0.0623, "9"},
		{"positive prior", func(m *Model) { m.Observe("y", dist.Poisson(m.Param("a", dist.HalfNormal(10))), []float64{0, 0, 0}) }, 0.3301, ""},
		{"link", func(m *Model) {
			m.Observe("y", dist.Poisson(ad.Exp(m.Param("a", dist.Normal(0, 1)))), []float64{1, 2, 0})
		}, math.NaN(), ""},
		{"scale", func(m *Model) {
			m.Observe("y", dist.Normal(0, m.Param("a", dist.Normal(1, 2))), []float64{0.5, -0.7, 0.4, 0.9})
		}, math.NaN(), "3"},
	} {
		m := NewModel(c.name)
		c.build(m)
		p, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		fit := mustSample(t, p, Settings{Seed: 1})
		row := fit.Summary().Row("a")
		if !math.IsNaN(c.mean) && math.Abs(row.Mean-c.mean) > 6*row.MCSEMean+0.01*c.mean {
			t.Errorf("%s: the mean of a is %g +- %g, want %g", c.name, row.Mean, row.MCSEMean, c.mean)
		}
		v, err := fit.CheckModel(CheckSettings{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(v.Flags, func(f check.Flag) bool { return f.Kind == check.KindRange })
		if (i >= 0) != (c.share != "") {
			t.Errorf("%s: flags %v", c.name, v.Flags)
		}
		if i >= 0 && (!strings.Contains(v.Flags[i].Text, c.share) || v.Flags[i].Remedy == "" || !strings.Contains(v.Flags[i].Text, c.name[:3]) && c.name != "scale") {
			t.Errorf("%s: %+v, want %q", c.name, v.Flags[i], c.share)
		}
	}
}

// A model whose every start is out of a range says which parameter of which distribution is.
func TestNoStartOutOfRange(t *testing.T) {
	m := NewModel("no start")
	a := m.Param("a", dist.Normal(0, 1))
	m.Observe("y", dist.Poisson(ad.Shift(a, -100)), []float64{1, 2})
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Sample(t.Context(), p, Settings{Seed: 1, Warmup: 10, Draws: 10})
	if err == nil || !strings.Contains(err.Error(), "rate of poisson") || !strings.Contains(err.Error(), "out of its range") {
		t.Errorf("%v", err)
	}
}

// Priors that have no parameters of their own, as those of users may, can be drawn from where nothing else has to be computed.
func TestRangesUnderPriorsWithoutParameters(t *testing.T) {
	tent := dist.Dist{Name: "tent", Support: dist.Interval(-1, 1),
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Log(ad.Sub(ad.Scalar(1), ad.Abs(x))) },
		RandOf:    func(src dist.Source, _ []float64) float64 { return src.Float64() + src.Float64() - 1 }}
	m := NewModel("tent")
	m.Observe("y", dist.Poisson(m.Param("a", tent)), []float64{0, 1, 0})
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	flags := p.outsideShares()
	if len(flags) != 1 || flags[0].Note || !strings.Contains(flags[0].Text, "rate of the distribution poisson") {
		t.Errorf("half of the prior is out of range: %+v", flags)
	}
}
