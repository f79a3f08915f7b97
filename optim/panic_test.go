// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"errors"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A panic of a user's function is an error wherever the function is called.
func TestPanicsAreErrors(t *testing.T) {
	ctx := t.Context()
	burst := func(when int) func() {
		n := 0
		return func() {
			if n++; n >= when {
				panic("my model")
			}
		}
	}
	for _, when := range []int{1, 3} {
		boom := burst(when)
		problem := func() *Problem {
			boom = burst(when)
			return &Problem{M: 3, N: 2, Start: []float64{1, 1}, Lower: []float64{-9, -9}, Upper: []float64{9, 9}, Residual: func(r, p []float64) error {
				boom()
				r[0], r[1], r[2] = p[0]-3, 2*p[1]*p[0]-4, p[1]
				return nil
			}}
		}
		f := func() *Function {
			boom = burst(when)
			return &Function{N: 1, Start: []float64{5}, Value: func(x []float64) (float64, error) {
				boom()
				return x[0] * x[0], nil
			}}
		}
		for name, call := range map[string]func() error{
			"LeastSquares": func() error { _, err := LeastSquares(ctx, problem(), Settings{}); return err },
			"MultiStart":   func() error { _, err := MultiStart(ctx, problem(), MultiSettings{Starts: 1, Threads: 2}); return err },
			"Minimize":     func() error { _, err := Minimize(ctx, f(), MinimizeSettings{}); return err },
			"Descend": func() error {
				boom = burst(when)
				_, err := Descend(ctx, func(x, g []float64) float64 { boom(); return x[0] }, []float64{1}, &Descent{Rule: SGD{}, LR: 0.1}, 20)
				return err
			},
			"FitStream": func() error {
				boom = burst(when)
				a, x := ad.Input("a"), ad.Input("x", 4)
				_, err := FitStream(ctx, Stream{Residual: ad.Sub(x, a), Params: []*ad.Node{a}, Columns: []*ad.Node{x}, Start: []float64{1},
					Next: func(c [][]float64) (int, error) { boom(); return copy(c[0], []float64{1, 2, 4}), nil }, Rewind: func() error { boom(); return nil }}, Settings{})
				return err
			},
		} {
			var p *PanicError
			if err := call(); !errors.As(err, &p) || p.Value != "my model" || !strings.Contains(err.Error(), "my model") {
				t.Errorf("%s, call %d: %v", name, when, err)
			}
		}
	}
}

// What is nil is named.
func TestNilArguments(t *testing.T) {
	var none context.Context
	ctx := t.Context()
	for want, call := range map[string]func() error{
		"optim.LeastSquares: the argument p is nil":   func() error { _, err := LeastSquares(ctx, nil, Settings{}); return err },
		"optim.LeastSquares: the argument ctx is nil": func() error { _, err := LeastSquares(none, &Problem{}, Settings{}); return err },
		"optim.Minimize: the argument f is nil":       func() error { _, err := Minimize(ctx, nil, MinimizeSettings{}); return err },
		"optim.Descend: the argument f is nil":        func() error { _, err := Descend(ctx, nil, nil, &Descent{}, 1); return err },
		"optim.MultiStart: the argument p is nil":     func() error { _, err := MultiStart(ctx, nil, MultiSettings{}); return err },
		"optim.FitStream: the argument ctx is nil":    func() error { _, err := FitStream(none, Stream{}, Settings{}); return err },
		"optim.FitSeparable: the argument ctx is nil": func() error { _, err := FitSeparable(none, Separable{}, Settings{}); return err },
		"optim.Profile: the argument r is nil":        func() error { _, err := Profile(ctx, &Problem{}, nil, ProfileSettings{}); return err },
		"optim.Batch.Fit: the argument b is nil":      func() error { _, err := (*Batch)(nil).Fit(ctx, Rows{}, BatchSettings{}); return err },
		"optim.Batch.Linearise: the argument r is nil": func() error {
			return new(Batch).Linearise(ctx, Rows{}, nil, func(Linearised) {})
		},
		"Residual": func() error {
			_, err := LeastSquares(ctx, &Problem{M: 1, N: 1, Start: []float64{1}}, Settings{})
			return err
		},
		"Value": func() error {
			_, err := Minimize(ctx, &Function{N: 1, Start: []float64{1}}, MinimizeSettings{})
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) || errors.As(err, new(*PanicError)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
