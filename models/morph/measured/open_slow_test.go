//go:build slow

// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// A fit of the files finds the truth from a morphology that is 15 % off and from nuisances that start from the data.
func TestFitOfFiles(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		k, err := measured.Open(parse(t, r.document(t)), "")
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range k.Params {
			switch {
			case !slices.Contains(r.problem.MorphologyNames(), p.Name):
			case strings.HasSuffix(p.Name, "_deg"):
				k.Params[i].Start *= 0.95
			default:
				k.Params[i].Start *= 0.85
			}
		}
		s, err := k.Fit(t.Context(), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range s.Names {
			if pull := (s.X[i] - r.Parameters[n].Truth) / s.SD[i]; math.Abs(pull) > 4 {
				t.Errorf("%s is %g +- %g: %.1f standard deviations from %g", n, s.X[i], s.SD[i], pull, r.Parameters[n].Truth)
			}
		}
	})
}
