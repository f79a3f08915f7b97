// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/g2"
)

// stretchedCurves are decays of exponent e on the same delays; the first has an outlier, the second no decay.
func stretchedCurves(n int, e float64) []g2.Curve {
	r := rand.New(rand.NewPCG(5, 6))
	curves := make([]g2.Curve, n)
	var x, sd []float64
	for k := range 50 {
		x, sd = append(x, 1e-3*math.Pow(10, float64(k)/12)), append(sd, 2e-3)
	}
	for i := range curves {
		y := make([]float64, len(x))
		for k, t := range x {
			y[k] = 1 + sd[k]*r.NormFloat64()
			if i != 1 {
				y[k] += 0.2 * math.Exp(-2*math.Pow(t/(0.02+0.01*float64(i)), e))
			}
		}
		if i == 0 {
			y[20] += 0.1
		}
		curves[i] = g2.Curve{Bin: i + 1, Q: math.NaN(), Phi: math.NaN(), X: x, Y: y, Err: sd}
	}
	return curves
}

// Curves that are fitted in lock step have the results and verdicts of curves that are fitted alone, and the same bits
// for any number of threads.
func TestLockStepFindsWhatSingleFitsFind(t *testing.T) {
	for _, name := range []string{"single", "stretched", "aps_single", "double"} {
		model, err := g2.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		curves := stretchedCurves(40, 1)
		all, err := g2.FitAll(context.Background(), model, curves, g2.Settings{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		other, err := g2.FitAll(context.Background(), model, curves, g2.Settings{Threads: 3})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range curves {
			one, err := g2.FitOne(context.Background(), model, c, g2.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(all[i].X, other[i].X) || !reflect.DeepEqual(all[i].Cov, other[i].Cov) || all[i].Check.String() != other[i].Check.String() {
				t.Errorf("%s, curve %d: %v with one thread, %v with three", name, i, all[i].X, other[i].X)
			}
			if one.Status != all[i].Status || one.Check.String() != all[i].Check.String() {
				t.Errorf("%s, curve %d: %s alone and %s among others: %v\n%v", name, i, one.Status, all[i].Status, one.Check, all[i].Check)
			}
			for k, x := range one.X {
				if math.Abs(all[i].X[k]-x) > 1e-6*one.SD[k] {
					t.Errorf("%s, curve %d: parameter %d is %g +- %g alone and %g among others", name, i, k, x, one.SD[k], all[i].X[k])
				}
			}
		}
	}
}

// The models stretched and aps_single are the same function: rounding does not decide which of them a verdict names.
func TestOfEqualModelsTheFirstIsNamed(t *testing.T) {
	model, err := g2.ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	fits, err := g2.FitAll(context.Background(), model, stretchedCurves(30, 0.7)[2:], g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, f := range fits {
		text := f.Check.String()
		if strings.Contains(text, "the model aps_single fits") {
			t.Errorf("bin %d: %s", f.Curve.Bin, text)
		}
		if strings.Contains(text, "the model stretched fits") {
			named++
		}
	}
	if named < 25 {
		t.Errorf("the model stretched was named %d of %d times, want at least 25", named, len(fits))
	}
}
