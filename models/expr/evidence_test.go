// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"math"
	"strings"
	"testing"
)

// The evidence of a slope with a normal prior is the known integral, and without a prior of all parameters there is none.
func TestEvidence(t *testing.T) {
	p, err := Parse([]byte(`{"expr": "a*x", "sigma": "s", "priors": {"a": "normal(1, 2)"}, "start": {"a": 1}, "data": {"x": [1, 2, 3], "y": [1.1, 1.8, 3.3], "s": [0.2, 0.2, 0.4]}}`))
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Evidence(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	// The prior times the likelihood is normal in a: log Z is its height at the best a, times the width that is left.
	curvature, pull := 1/4., 1/4.
	x, y, s := p.Data["x"].Values, p.Data["y"].Values, p.Data["s"].Values
	for i := range x {
		curvature, pull = curvature+x[i]*x[i]/(s[i]*s[i]), pull+x[i]*y[i]/(s[i]*s[i])
	}
	a := pull / curvature
	log := func(d, s float64) float64 { return -d*d/(2*s*s) - math.Log(s) - math.Log(2*math.Pi)/2 }
	want := log(a-1, 2) + math.Log(2*math.Pi/curvature)/2
	for i := range x {
		want += log(y[i]-a*x[i], s[i])
	}
	if math.Abs(e.Log-want) > 0.1 || !(e.Error < 0.1) {
		t.Errorf("log evidence %.4f +- %.2g, want %.4f", e.Log, e.Error, want)
	}
	own := *p
	own.Sigma = ""
	if _, err := own.Evidence(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "needs the errors of y") {
		t.Error(err)
	}
	p.Priors, p.Bounds = nil, map[string]Bounds{"a": {0, math.Inf(1)}}
	if _, err := p.Evidence(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "a has none") {
		t.Error(err)
	}
}
