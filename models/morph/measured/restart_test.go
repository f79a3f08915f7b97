// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// faint is the small measurement in closed form with a twelfth of the light, whose lengths are searched for elsewhere, from some starts.
func faint(t *testing.T, starts map[string]float64) *measured.Task {
	k := smallOf(t, 3, true)
	k.Model.Lengths = []string{"radius", "shell"}
	random := rand.New(rand.NewPCG(3, 6))
	each(k, func(_ int, c float64) float64 { return distuv.Binomial{N: c, P: 1.0 / 12, Src: random}.Rand() })
	for i, p := range k.Params {
		if p.Name == "log_scale" || p.Name == "background" {
			k.Params[i].Start /= 12
		}
		if x, ok := starts[p.Name]; ok {
			k.Params[i].Start = x
		}
	}
	return k
}

// A fit that ends in a wrong minimum is repeated from other starts, and the lowest minimum of all is returned.
func TestWrongMinimumIsLeft(t *testing.T) {
	tier.SlowOnly(t)
	start := map[string]float64{"radius": 13, "shell": 14, "aligned": 0.3, "log_scale": 9.5, "centre_x": 0, "centre_y": 0}
	first, err := faint(t, start).Fit(t.Context(), optim.Settings{})
	if err != nil || first.Deviance < 5000 {
		t.Fatalf("the start is meant to lead elsewhere, and not to a deviance of %g: %v", first.Deviance, err)
	}
	s, err := faint(t, start).FitBest(t.Context(), measured.FitSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{6, 5, 0.6} {
		if pull := (s.X[i] - want) / s.SD[i]; !(math.Abs(pull) < 3.5) {
			t.Errorf("%s is %g +- %g, want %g", s.Names[i], s.X[i], s.SD[i], want)
		}
	}
	if len(s.Elsewhere) == 0 || len(s.Warnings) == 0 || !strings.Contains(s.Warnings[len(s.Warnings)-1], "ended in another minimum") {
		t.Errorf("the other minima are %v, and the warnings %q", s.Elsewhere, s.Warnings)
	}
}

// Of two minima that the data do not tell apart both are told, and one that they exclude is not.
func TestMinimaThatAreNotTold(t *testing.T) {
	tier.SlowOnly(t)
	k := faint(t, map[string]float64{"log_scale": 9.5})
	s, err := k.FitBest(t.Context(), measured.FitSettings{Restarts: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, above := range []float64{3, 300} {
		s.Elsewhere = []measured.Minimum{{X: slices.Clone(s.X), Above: above, Differs: "radius"}}
		v, err := k.Check(s)
		if err != nil || v.OK != (above > 100) || !v.OK && v.Flags[0].Kind != check.KindUnknown {
			t.Errorf("a minimum that is %g higher: %v, %v", above, v.Flags, err)
		}
	}
}

// A length that is held at a wrong value is named.
func TestLengthThatIsHeld(t *testing.T) {
	tier.SlowOnly(t)
	k := faint(t, map[string]float64{"log_scale": 9.5})
	k.Fixed = map[string]float64{"radius": 6.4, "aligned": 0.6}
	k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { return k.Fixed[p.Name] > 0 })
	if first, words := judged(t, k); first != "held parameter" || !strings.Contains(words, "in place of holding it at 6.4") {
		t.Errorf("%s: %s", first, words)
	}
}
