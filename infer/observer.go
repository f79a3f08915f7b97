// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// seenDraw is a draw of the unconstrained parameters with the gradient there.
type seenDraw struct {
	q, g []float64
	// at are the linear uses of located parameters, or these themselves, and pull is the gradient along them of what observations tell.
	at, pull [][]float64
}

// observer computes what is noted about draws while coordinates are chosen.
type observer struct {
	f    *family
	prog *ad.Program
}

// newObserver makes the program of an observer.
func (f *family) newObserver() (*observer, error) {
	outputs := append([]*ad.Node{f.LogProb}, ad.Grad(f.LogProb, f.Inputs...)...)
	for _, l := range f.located {
		u := f.Inputs[l.Input]
		at, pull := u, ad.Add(outputs[1+l.Input], l.Located.pull(u))
		if l.use != nil {
			at, pull = l.use.eta, ad.Grad(f.LogProb, l.use.eta)[0]
		}
		outputs = append(outputs, at, pull)
	}
	prog, err := ad.Compile(outputs, ad.Settings{Inputs: slices.Concat(f.Inputs, f.Given), Backend: ad.CPU{Threads: 1}})
	return &observer{f, prog}, err
}

// watcher is an observer at work.
type watcher struct {
	*observer
	state *ad.State
}

func (o *observer) watcher() *watcher {
	return &watcher{o, graph.State(o.prog, len(o.f.Inputs), o.f.GivenValues)}
}

// see returns what is to be noted of the draw q, and false where the density fails.
func (w *watcher) see(q []float64) (seenDraw, bool) {
	n, s := len(w.f.Inputs), w.state
	copy(s.InputSpan(0, n), q)
	if s.Run() != nil {
		return seenDraw{}, false
	}
	d := seenDraw{q: q, g: slices.Clone(s.OutputSpan(1, 1+n))}
	ok := linalg.AllFinite(s.Output(0)) && linalg.AllFinite(d.g)
	for j := range w.f.located {
		at, pull := slices.Clone(s.Output(1+n+2*j)), slices.Clone(s.Output(2+n+2*j))
		d.at, d.pull = append(d.at, at), append(d.pull, pull)
		ok = ok && linalg.AllFinite(at) && linalg.AllFinite(pull)
	}
	return d, ok
}

// information returns what observations tell about the located parameters, by regression of the gradients of draws.
func (f *family) information(draws []seenDraw) []information {
	out := make([]information, len(f.located))
	x, y := make([]float64, len(draws)), make([]float64, len(draws))
	for j, l := range f.located {
		size := l.informed(f.Inputs[l.Input].Size())
		out[j] = information{make([]float64, size), make([]float64, size)}
		for i := range size {
			for k, d := range draws {
				x[k], y[k] = d.at[j][i], d.pull[j][i]
			}
			intercept, slope := stat.LinearRegression(x, y, nil, false)
			if slope < 0 && linalg.Finite(slope) && linalg.Finite(intercept) {
				out[j].weight[i], out[j].pull[i] = -slope, intercept
			}
		}
	}
	return out
}
