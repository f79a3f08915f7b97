// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/g2"
)

// A fit with a prior is the most probable point: a value measured twice, by the curve and by the prior, lies between both by their errors,
// and the prior's part of a curve without a decay gives tau. What the fit is stands in the notes.
func TestPriorsArePenalties(t *testing.T) {
	model, err := g2.ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	c := g2.Curve{Bin: 1}
	for i := range 40 {
		x := 1e-3 * math.Pow(1.2, float64(i))
		c.X, c.Y, c.Err = append(c.X, x), append(c.Y, 1+0.2*math.Exp(-2*x/0.05)+0.002*math.Sin(9*float64(i))), append(c.Err, 0.002)
	}
	fit := func(s g2.Settings) g2.Fit {
		f, err := g2.FitOne(context.Background(), model, c, s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	plain := fit(g2.Settings{})
	sd := plain.SD[0] / plain.X[0]
	both := fit(g2.Settings{Priors: map[string]dist.Dist{"tau": dist.LogNormal(math.Log(plain.X[0])+2*sd, sd)}})
	if got := math.Log(both.X[0]/plain.X[0]) / sd; math.Abs(got-1) > 0.05 || math.Abs(both.SD[0]/plain.SD[0]-math.Sqrt(0.5)) > 0.03 {
		t.Errorf("tau moves by %g standard deviations, want 1, and its error from %g to %g", got, plain.SD[0], both.SD[0])
	}
	if n := both.Check.Notes; len(n) == 0 || n[len(n)-1].Kind != g2.KindPriors || !strings.Contains(n[len(n)-1].Text, "tau ~ lognormal") {
		t.Errorf("the notes are %v", n)
	}
	inside := fit(g2.Settings{Priors: map[string]dist.Dist{"tau": dist.Uniform(0.06, 0.07)}})
	if math.Abs(inside.X[0]-0.06) > 1e-9 || inside.Active[0] != -1 {
		t.Errorf("tau is %g between 0.06 and 0.07", inside.X[0])
	}
	conflict := fit(g2.Settings{Priors: map[string]dist.Dist{"tau": dist.LogNormal(math.Log(plain.X[0])+20*sd, sd)}})
	if conflict.Check.OK || !strings.Contains(conflict.Check.Line(), "prior") {
		t.Errorf("a prior that contradicts the data: %v", conflict.Check.Line())
	}
	c.Err = nil
	if f := fit(g2.Settings{Priors: map[string]dist.Dist{"tau": dist.LogNormal(0, 1)}}); f.Status != "failed" || !strings.Contains(f.Message, "no errors") {
		t.Errorf("without errors: %s %s", f.Status, f.Message)
	}
	if _, err := g2.FitOne(context.Background(), model, c, g2.Settings{Priors: map[string]dist.Dist{"tau": dist.Gamma(2, 3)}}); err == nil || !strings.Contains(err.Error(), "sample the posterior") {
		t.Errorf("a gamma distribution: %v", err)
	}
}
