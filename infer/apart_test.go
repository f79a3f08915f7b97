// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// inWindow is 1 where both of two numbers are within 0.1 of a place, and 0 elsewhere.
func inWindow(a, b *ad.Node, at float64) *ad.Node {
	near := func(x *ad.Node) *ad.Node { return ad.Less(ad.Abs(ad.Shift(x, -at)), ad.Scalar(0.1)) }
	return ad.Where(near(a), ad.Where(near(b), ad.Scalar(1), ad.Scalar(0)), ad.Scalar(0))
}

// windowed is a density that is normal in x but in a narrow window of two other parameters, where most of the posterior is. Terms holds of the window and x.
func windowed(t *testing.T, term func(open, x *ad.Node) *ad.Node) *Posterior {
	t.Helper()
	m := NewModel("windowed")
	a, b := m.Param("a", dist.Normal(0, 1)), m.Param("b", dist.Normal(0, 1))
	x := m.Param("x", dist.Normal(0, 2), Shape(4))
	m.AddLogProb("window", term(inWindow(a, b, 0.7), x))
	m.Observe("y", dist.Normal(x, 1), []float64{1, 2, 3, 4})
	m.Observe("places", dist.Normal(ad.Stack(0, a, b), 0.02), []float64{0.7, 0.7})
	return compiled(t, m)
}

// Couplings in a window that no trial met are found at draws; the run is repeated with all parameters, and says so.
func TestCouplingsInWindows(t *testing.T) {
	for name, term := range map[string]func(open, x *ad.Node) *ad.Node{
		"a coupling": func(open, x *ad.Node) *ad.Node {
			return ad.Scale(-3, ad.Mul(open, ad.Square(ad.Sub(ad.Index(x, 0, 0), ad.Index(x, 0, 2)))))
		},
		"a precision": func(open, x *ad.Node) *ad.Node {
			return ad.Scale(-3, ad.Mul(open, ad.Square(ad.Sum(x))))
		},
	} {
		p := windowed(t, term)
		before := integratedOf(t, p)
		file := filepath.Join(t.TempDir(), "run")
		fit, err := Sample(context.Background(), p, Settings{Seed: 1, Chains: 2, Draws: 200, Checkpoint: Checkpoint{Path: file}})
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Join(fit.Coordinates(), "; ")
		if len(before.names()) == 0 || !strings.Contains(told, "no parameter is integrated out") {
			t.Errorf("%s: the run tells %q after %v were to be integrated out", name, told, before.names())
		}
		plain := mustSample(t, p, Settings{Seed: 1, Chains: 2, Draws: 200, NoMarginals: true})
		if bits(fit) != bits(plain) {
			t.Errorf("%s: the repeated run has other draws than one with all parameters", name)
		}
		more, err := Sample(context.Background(), p, Settings{Seed: 1, Chains: 2, Draws: 250, Resume: file})
		if err != nil || more.Len(0) != 250 {
			t.Errorf("%s: the repeated run is not resumed: %v", name, err)
		}
		if _, err := Sample(context.Background(), p, Settings{Seed: 1, Chains: 2, Draws: 200, Sink: Sink{Write: func(SinkDraw) error { return nil }}}); err == nil || !strings.Contains(err.Error(), "NoMarginals") {
			t.Errorf("%s: a sink that cannot begin again gives %v", name, err)
		}
	}
}

// Terms that join discrete parameters in a window that no trial met end the run.
func TestLabelsInWindows(t *testing.T) {
	m := NewModel("windowed labels")
	a, b := m.Param("a", dist.Normal(0, 1)), m.Param("b", dist.Normal(0, 1))
	z := m.Param("z", dist.Bernoulli(0.4), Shape(4))
	both := ad.Mul(ad.Slice(z, 0, 0, 2), ad.Slice(z, 0, 2, 4))
	m.Observe("y", dist.Normal(ad.Add(ad.Scale(2, ad.Slice(z, 0, 0, 2)), ad.Mul(inWindow(a, b, 0.7), both)), 1), []float64{1, 2})
	m.Observe("w", dist.Normal(ad.Slice(z, 0, 2, 4), 1), []float64{1, 0})
	m.Observe("places", dist.Normal(ad.Stack(0, a, b), 0.02), []float64{0.7, 0.7})
	_, err := Sample(context.Background(), compiled(t, m), Settings{Seed: 1, Chains: 2, Draws: 100})
	if err == nil || !strings.Contains(err.Error(), "do not fall apart") {
		t.Errorf("the run ends with %v", err)
	}
}

// Differences that rounding makes are none.
func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		a, b, size float64
		want       bool
	}{{1, 1.0005, 0, false}, {1, 1.002, 0, true}, {1e9, 1e9 + 0.01, 0, false}, {1e9, 1e9 + 1, 0, true}, {math.Inf(-1), 1, 0, true}, {math.NaN(), 1, 0, true}, {0, 0.1, 1e11, false}} {
		if differ(c.a, c.b, c.size) != c.want {
			t.Errorf("differ(%g, %g, %g) is %t", c.a, c.b, c.size, !c.want)
		}
	}
}
