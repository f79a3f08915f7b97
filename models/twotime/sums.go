package twotime

import (
	"context"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// sums computes, at parameters of the motion, the weighted sums of products of the columns 1, g, dg/dtheta and y-1 over the pairs of each
// angle. All of least squares follows from them: the best contrast and offset, the sum of squares, gradients and curvatures.
type sums struct {
	data   *Data
	p      int // parameters of the motion
	angle  int // the parameter that angles are added to; -1 for none
	sign   float64
	blocks []block
	runs   []run // a state for each goroutine
	at     []float64
	gram   [][]float64 // of each angle, square and row-major
}

// block is some rows of a matrix, and the program for them.
type block struct {
	from, to, begin int // rows, and the first column
	program         *ad.Program
}

// run is what a goroutine works with.
type run struct{ states []*ad.State }

// rowsEach is the number of rows of a block: pairs below the diagonal are computed for nothing there.
const rowsEach = 64

func newSums(d *Data, threads int) (*sums, error) {
	n := len(d.Setup.Times)
	s := &sums{data: d, p: len(d.Setup.Names()), angle: -1, runs: make([]run, max(1, threads))}
	switch d.Setup.Model {
	case transport.Laminar:
		s.angle, s.sign = 6, -1 // phi0 - phi
	case transport.TwoComponent:
		s.angle, s.sign = 13, 1
	}
	one := d.Setup
	one.Angles = []float64{0}
	for from := 0; from < n-1; from += rowsEach {
		b := block{from: from, to: min(from+rowsEach, n-1), begin: from + 1}
		theta, err := one.Inputs()
		if err != nil {
			return nil, err
		}
		y, w := ad.Input("y", b.to-b.from, n-b.begin), ad.Input("w", b.to-b.from, n-b.begin)
		g, along := one.Derivatives(theta, transport.Rectangle(b.from, b.to, b.begin, n), w)
		columns := append(append([]*ad.Node{w, g}, along...), ad.Mul(w, y))
		var outs []*ad.Node
		for i, x := range columns {
			for _, z := range columns[i:] {
				outs = append(outs, ad.Sum(ad.Mul(x, z)))
			}
		}
		if b.program, err = ad.Compile(outs, ad.Settings{Inputs: append(theta, y, w), Backend: ad.CPU{Threads: 1}}); err != nil {
			return nil, err
		}
		s.blocks = append(s.blocks, b)
	}
	for i := range s.runs {
		s.runs[i].states = make([]*ad.State, len(s.blocks))
	}
	for range d.C2 {
		s.gram = append(s.gram, make([]float64, (s.p+3)*(s.p+3)))
	}
	return s, nil
}

// size is the number of columns.
func (s *sums) size() int { return s.p + 3 }

// evaluate computes the sums at theta, unless they are those of it already.
func (s *sums) evaluate(ctx context.Context, theta []float64) error {
	if slices.Equal(s.at, theta) {
		return nil
	}
	k, jobs := s.size(), len(s.data.C2)*len(s.blocks)
	parts := make([][]float64, jobs)
	errs := make([]error, jobs)
	parallel.Do(len(s.runs), jobs, func(hand, job int) {
		if errs[job] = ctx.Err(); errs[job] == nil {
			parts[job], errs[job] = s.block(hand, job/len(s.blocks), job%len(s.blocks), theta)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for a, gram := range s.gram {
		clear(gram)
		for b := range s.blocks {
			at := 0
			for i := range k {
				for j := i; j < k; j++ {
					gram[i*k+j] += parts[a*len(s.blocks)+b][at]
					at++
				}
			}
		}
		for i := range k {
			for j := range i {
				gram[i*k+j] = gram[j*k+i]
			}
		}
	}
	s.at = append(s.at[:0], theta...)
	return nil
}

// block computes the sums of a block of an angle.
func (s *sums) block(hand, angle, number int, theta []float64) ([]float64, error) {
	b, n := s.blocks[number], len(s.data.Setup.Times)
	st := s.runs[hand].states[number]
	if st == nil {
		st = b.program.NewState()
		s.runs[hand].states[number] = st
	}
	for i, v := range theta {
		if i == s.angle {
			v += s.sign * s.data.Setup.Angles[angle]
		}
		st.Input(i)[0] = v
	}
	y, w := st.Input(s.p), st.Input(s.p+1)
	c2 := s.data.C2[angle]
	at := 0
	for i := b.from; i < b.to; i++ {
		for j := b.begin; j < n; j++ {
			y[at], w[at] = 0, 0
			if j > i {
				if w[at] = s.data.weight(angle, i, j); w[at] > 0 {
					y[at] = c2[i*n+j] - 1
				}
			}
			at++
		}
	}
	if err := st.Run(); err != nil {
		return nil, err
	}
	out := make([]float64, b.program.Outputs())
	for i := range out {
		if out[i] = st.Output(i)[0]; math.IsNaN(out[i]) {
			return nil, &transport.DomainError{Parameter: "theta", What: "the correlations are not finite there"}
		}
	}
	return out, nil
}
