// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/g2"
)

// Columns of tau and g2 that are swapped are told with numbers; delays in falling order are not.
func TestSwappedColumns(t *testing.T) {
	var swapped, falling strings.Builder
	for i := range 20 {
		tau := 1e-3 * math.Pow(1.6, float64(i))
		y := 1 + 0.2*math.Exp(-2*tau/0.5) + 0.003*math.Sin(37*float64(i))
		fmt.Fprintf(&swapped, "%g,%g\n", y, tau)
		tau = 1e-3 * math.Pow(1.6, float64(19-i))
		fmt.Fprintf(&falling, "%g,%g\n", tau, 1+0.2*math.Exp(-2*tau/0.5))
	}
	open := func(text string) error {
		name := filepath.Join(t.TempDir(), "g2.csv")
		if err := os.WriteFile(name, []byte("tau,g2\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := g2.OpenCurves(name)
		return err
	}
	if err := open(falling.String()); err != nil {
		t.Error(err)
	}
	if err := open(swapped.String()); err == nil || !strings.Contains(err.Error(), "do not increase, but g2 does, from 0.001 to 7.5557") || !strings.Contains(err.Error(), "are the columns of tau and g2 swapped?") {
		t.Error(err)
	}
}

// A prior that leaves no positive relaxation time is refused before a fit and before sampling.
func TestImpossiblePriors(t *testing.T) {
	model, err := g2.ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	c := g2.Curve{Bin: 1, X: []float64{1, 2, 3, 4}, Y: []float64{1.2, 1.1, 1.05, 1}, Err: []float64{0.1, 0.1, 0.1, 0.1}}
	for _, d := range []dist.Dist{dist.Uniform(-5, -1), dist.Normal(-50, 1)} {
		s := g2.Settings{Priors: map[string]dist.Dist{"tau": d}}
		_, sampling := g2.Posterior(model, c, s)
		_, fitting := g2.FitOne(t.Context(), model, c, s)
		for _, err := range []error{sampling, fitting} {
			if err == nil || !strings.Contains(err.Error(), "tau is a relaxation time, which must be positive") {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
	if _, err := g2.Posterior(model, c, g2.Settings{Priors: map[string]dist.Dist{"tau": dist.Normal(1, 5)}}); err != nil {
		t.Error(err)
	}
}
