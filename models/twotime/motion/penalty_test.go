// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/twotime/motion"
)

// A prior as wide as the error of a fit, two errors away from it, moves the parameter half of the way and makes its error smaller by the
// root of 2; a wide one changes nothing.
func TestFitsTakePriors(t *testing.T) {
	fit := func(priors setting.Texts) (*motion.Fit, motion.Row) {
		t.Helper()
		c := config(t, flow)
		p := sheared(t, c, truth, 0.3, 0.3, 0.3)
		r := motion.Request{Priors: priors}
		penalties, err := r.Penalties(p)
		if err != nil {
			t.Fatal(err)
		}
		f, err := p.Fit(context.Background(), motion.FitSettings{Penalties: penalties, Seed: 1, Starts: 8})
		if err != nil {
			t.Fatal(err)
		}
		rows := f.Rows()
		return f, rows[slices.IndexFunc(rows, func(r motion.Row) bool { return r.Name == "alpha" })]
	}
	_, free := fit(nil)
	held, row := fit(setting.Texts{"alpha": fmt.Sprintf("normal(%g,%g)", free.Value+2*free.SD, free.SD)})
	if moved, shrunk := (row.Value-free.Value)/free.SD, row.SD/free.SD; math.Abs(moved-1) > 0.35 || math.Abs(shrunk-math.Sqrt(0.5)) > 0.15 {
		t.Errorf("alpha moved by %.3g errors and its error shrank to %.3g, want 1 and 0.71", moved, shrunk)
	}
	if !held.Verdict.OK {
		t.Error(held.Verdict)
	}
	if !slices.ContainsFunc(held.Notes, func(n string) bool { return strings.Contains(n, "most probable point given the priors") }) {
		t.Errorf("%q", held.Notes)
	}
	if _, row := fit(setting.Texts{"alpha": "normal(0,100)", "log_D0": "normal(9,50)"}); math.Abs(row.Value-free.Value) > 0.01*free.SD {
		t.Errorf("a wide prior moved alpha from %g to %g", free.Value, row.Value)
	}
	for text, want := range map[string]string{"contrast=normal(0.3,0.1)": "leave this prior to sample twotime", "D0=beta(1,2)": "no penalty of a fit", "D0=uniform(-5,-1)": "a probability of 0 for values above 0, but D0 is a rate", "x=normal(0,1)": "parameter"} {
		name, law, _ := strings.Cut(text, "=")
		r := motion.Request{Priors: setting.Texts{name: law}}
		if _, err := r.Penalties(sheared(t, config(t, flow), truth, 0.3, 0.3, 0.3)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", text, err, want)
		}
	}
}
