// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Modes with closed forms: a gamma distribution with and without the Jacobian, a normal
// mean with its prior, centred and not.
func TestMAP(t *testing.T) {
	ctx := context.Background()
	m := infer.NewModel("gamma")
	m.Param("x", dist.Gamma(5, 2)) // mode (a-1)/b, of log x: a/b
	post := compiled(t, m)
	for jacobian, want := range map[bool]float64{false: 2, true: 2.5} {
		mode, err := post.MAP(ctx, infer.MAPSettings{Jacobian: jacobian})
		if err != nil || math.Abs(mode.Values["x"][0]-want) > 1e-6 || !mode.Status.Converged() {
			t.Errorf("jacobian %v: %+v, want x = %g (%v)", jacobian, mode, want, err)
		}
	}
	for _, o := range [][]infer.Option{nil, {infer.NonCentred()}} {
		m := infer.NewModel("mean")
		mu := m.Param("mu", dist.Normal(1, 2), o...)
		m.Observe("y", dist.Normal(mu, m.Data("sd", []float64{1, 2})), []float64{3, 5})
		mode, err := compiled(t, m).MAP(ctx, infer.MAPSettings{})
		precision := 1.0/4 + 1 + 1.0/4
		if want := (1.0/4 + 3 + 5.0/4) / precision; err != nil || math.Abs(mode.Values["mu"][0]-want) > 1e-7 {
			t.Errorf("%+v, want mu = %g (%v)", mode, want, err)
		}
	}
	empty := infer.NewModel("empty")
	empty.Observe("y", dist.Normal(0, 1), []float64{1})
	if _, err := compiled(t, empty).MAP(ctx, infer.MAPSettings{}); err == nil || !strings.Contains(err.Error(), "no parameters") {
		t.Errorf("no parameters: %v", err)
	}
}
