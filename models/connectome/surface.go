// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"gonum.org/v1/gonum/mat"
)

// surface is a cubic in log beta and logit p for each step.
type surface struct{ coefficients []float64 } // [steps, terms]

// The exponents of the terms.
var powers = [][2]int{{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}, {3, 0}, {2, 1}, {1, 2}, {0, 3}}

const (
	reach = 3 * priorSD // extent of the design, on both sides of the priors' centres
	side  = 7           // number of design points along one axis
	least = 1e-3        // overlaps nearer than this to 0 or 1 are treated as being this near
)

// Corrected returns a simulator whose soft overlaps are corrected to those of hard assemblies. It
// adds to their logits a cubic in log beta and logit p, fitted at 49 points within 3 sd of the
// priors, with the given number of new graphs at each (0: 24). This also corrects for the
// simulator's own choice of graphs. It takes seconds to tens of seconds.
func (s Simulator) Corrected(ctx context.Context, graphs int) (Simulator, error) {
	return s.fitted(ctx, graphs, false)
}

// Emulated returns a simulator that consists of a surface only, fitted to the overlaps of hard
// assemblies as in Corrected. Its gradients are smooth and take microseconds.
func (s Simulator) Emulated(ctx context.Context, graphs int) (Simulator, error) {
	return s.fitted(ctx, graphs, true)
}

func (s Simulator) fitted(ctx context.Context, graphs int, alone bool) (Simulator, error) {
	s = s.defaults()
	if err := s.check(); err != nil {
		return s, err
	}
	if graphs == 0 {
		graphs = 24
	}
	if graphs < 1 {
		return s, fmt.Errorf("connectome: the surface is to be made from %s: want at least 1", errtext.Count(graphs, "graph"))
	}
	if err := s.fits(graphs, true); err != nil {
		return s, err
	}
	if err := s.fits(s.Graphs, false); err != nil && !alone {
		return s, err
	}
	f, err := s.design(ctx, graphs, alone)
	if err != nil {
		return s, err
	}
	s.surface, s.alone = f, alone
	return s, nil
}

// design runs hard dynamics at points of the plane, in new graphs at each point, and fits their
// logits or the differences from the soft ones.
func (s Simulator) design(ctx context.Context, graphs int, alone bool) (*surface, error) {
	logBeta, logitP := ad.Input("log beta"), ad.Input("logit p")
	prog, err := ad.Compile([]*ad.Node{s.dynamics(logBeta, logitP, false)}, ad.Settings{Inputs: []*ad.Node{logBeta, logitP}})
	if err != nil {
		return nil, fmt.Errorf("connectome: %w", err)
	}
	st, f, trial := prog.NewState(), newFitting(s.Steps-1), s
	trial.Graphs = graphs
	for i := range side * side {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := place(i/side), place(i%side)
		b, p := s.centre()
		b, p = b+x*reach, p+y*reach
		trial.Seed = s.Seed<<8 + uint64(i) + 1
		hard, err := trial.Hard(math.Exp(b), 1/(1+math.Exp(-p)))
		if err != nil {
			return nil, err
		}
		if st.Input(0)[0], st.Input(1)[0] = b, p; !alone {
			if err := st.Run(); err != nil {
				return nil, fmt.Errorf("connectome: %w", err)
			}
		}
		for t, v := range hard {
			target := logitOf(v)
			if !alone {
				target -= logitOf(st.Output(0)[t])
			}
			v = min(max(v, least), 1-least)
			f.add(t, i, x, y, target, v*(1-v))
		}
	}
	return f.solve()
}

// place returns the i-th position along a design axis, from -1 to 1.
func place(i int) float64 { return -1 + 2*float64(i)/(side-1) }

func logitOf(v float64) float64 {
	v = min(max(v, least), 1-least)
	return math.Log(v / (1 - v))
}

// fitting is a weighted least-squares problem per step. The weight is the slope of the overlap by
// its logit, so that errors count in the overlap; a small minimum weight restrains the cubics where
// overlaps are 1.
type fitting struct {
	a []*mat.Dense
	b []*mat.VecDense
}

func newFitting(steps int) *fitting {
	f := &fitting{}
	for range steps {
		f.a, f.b = append(f.a, mat.NewDense(side*side, len(powers), nil)), append(f.b, mat.NewVecDense(side*side, nil))
	}
	return f
}

func (f *fitting) add(t, i int, x, y, target, weight float64) {
	for k, q := range powers {
		f.a[t].Set(i, k, weight*math.Pow(x, float64(q[0]))*math.Pow(y, float64(q[1])))
	}
	f.b[t].SetVec(i, weight*target)
}

func (f *fitting) solve() (*surface, error) {
	s := &surface{}
	for t := range f.a {
		var c mat.VecDense
		if err := c.SolveVec(f.a[t], f.b[t]); err != nil {
			return nil, fmt.Errorf("connectome: the surface of step %d: %w", t+2, err)
		}
		s.coefficients = append(s.coefficients, c.RawVector().Data...)
	}
	return s, nil
}

// of returns the surface at a position in the design, [steps].
func (s *surface) of(x, y *ad.Node) *ad.Node {
	power := func(v *ad.Node, n int) *ad.Node {
		out := ad.Scalar(1)
		for range n {
			out = ad.Mul(out, v)
		}
		return out
	}
	terms := make([]*ad.Node, len(powers))
	for k, q := range powers {
		terms[k] = ad.Mul(power(x, q[0]), power(y, q[1]))
	}
	n := len(s.coefficients) / len(powers)
	return ad.MatMul(ad.Const(s.coefficients, n, len(powers)), ad.Stack(0, terms...))
}
