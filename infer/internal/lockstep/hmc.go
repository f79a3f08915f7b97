// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// HMC follows trajectories of equally many leapfrog steps in all lanes. Places, momenta, gradients and energies stay where
// the program runs, also from one trajectory to the next: momenta go there, and the ends of trajectories come back.
type HMC struct {
	state      *ad.State
	dim, lanes int
	// kick holds momenta, and whether the end of the last trajectory became the draw.
	kick []float64
	// step holds the length of a step, the largest energy error and the scales of the metric.
	step, begin []float64
	placed      bool
}

// Vectors of a lane in the state, of dim numbers each: place, momentum, force and gradient, and the place and the
// gradient where the trajectory began. Numbers follow them.
const (
	laneQ = iota
	laneZ
	laneW
	laneG
	laneQ0
	laneG0
	laneVectors
)

const (
	// laneBegin is 1 before the first step of a trajectory.
	laneBegin = iota
	laneLp
	laneLp0
	laneH0
	// laneAlive is 1 until the trajectory diverges, where the lane stays.
	laneAlive
	laneSteps
	// laneWorst is the largest energy error.
	laneWorst
	laneEnergy
	laneNumbers
)

// Outputs of the program: the state, what every draw needs of the end, place and numbers, and what adaptation needs.
const (
	outState = iota
	outEnd
	outSlopes
)

// CompileHMC compiles trajectories of a density for a number of lanes under a diagonal metric.
func CompileHMC(density *Density, lanes int) (*ad.Program, error) {
	return ad.Compile(trajectories(density, lanes))
}

// LaunchesOfHMC lists the kernels of a step of such trajectories on a GPU, with their work.
func LaunchesOfHMC(density *Density, lanes int) ([]roofline.Launch, error) {
	return ad.Launches(trajectories(density, lanes))
}

// trajectories is the graph of a step of all lanes.
func trajectories(density *Density, lanes int) ([]*ad.Node, ad.Settings) {
	d := density.dim()
	at, kick, step := ad.Input("at", laneVectors*d+laneNumbers), ad.Input("kick", d+1), ad.Input("step", 2+d)
	vector := func(k int) *ad.Node { return ad.Slice(at, 0, k*d, (k+1)*d) }
	number := func(k int) *ad.Node { return ad.Slice(at, 0, laneVectors*d+k, laneVectors*d+k+1) }
	eps, most, scale := ad.Index(step, 0, 0), ad.Index(step, 0, 1), ad.Slice(step, 0, 2, 2+d)
	zero, one, half := ad.Scalar(0), ad.Scalar(1), ad.Scalar(0.5)
	begins, moved := ad.Less(half, number(laneBegin)), ad.Less(half, ad.Slice(kick, 0, d, d+1))
	pick := func(end, before *ad.Node) *ad.Node {
		return ad.Where(begins, ad.Where(moved, end, before), before)
	}
	q0, g0, lp0 := pick(vector(laneQ), vector(laneQ0)), pick(vector(laneG), vector(laneG0)), pick(number(laneLp), number(laneLp0))
	first := func(start, now *ad.Node) *ad.Node { return ad.Where(begins, start, now) }
	z, w, q := first(ad.Slice(kick, 0, 0, d), vector(laneZ)), first(ad.Mul(scale, g0), vector(laneW)), first(q0, vector(laneQ))
	g, lp := first(g0, vector(laneG)), first(lp0, number(laneLp))
	energy := func(z, lp *ad.Node) *ad.Node {
		return ad.Sub(ad.Scale(0.5, ad.Reshape(ad.Sum(ad.Square(z)), 1)), lp)
	}
	h0 := first(energy(z, lp0), number(laneH0))
	alive := ad.Less(half, first(one, number(laneAlive)))

	z1 := ad.Add(z, ad.Mul(ad.Scale(0.5, eps), w))
	q1 := ad.Add(q, ad.Mul(eps, ad.Mul(scale, z1)))
	lp1, g1 := density.at(q1)
	lp1 = ad.Reshape(lp1, 1)
	w1 := ad.Mul(scale, g1)
	z2 := ad.Add(z1, ad.Mul(ad.Scale(0.5, eps), w1))
	h := energy(z2, lp1)
	off := ad.Sub(h, h0)
	known := ad.Equal(ad.Sub(off, off), zero) // neither infinite nor NaN
	fine := ad.Where(known, ad.Where(ad.LessEqual(off, most), one, zero), zero)
	size := ad.Where(known, ad.Abs(off), ad.Scalar(math.Inf(1)))

	on := func(now, before *ad.Node) *ad.Node { return ad.Where(alive, now, before) }
	steps, worst := first(zero, number(laneSteps)), first(zero, number(laneWorst))
	qn, zn, gn := on(q1, q), on(z2, z), on(g1, g)
	numbers := []*ad.Node{ad.Scale(0, number(laneBegin)), on(lp1, lp), lp0, h0, on(fine, first(one, number(laneAlive))), on(ad.Add(steps, one), steps),
		on(ad.Maximum(worst, size), worst), on(h, first(h0, number(laneEnergy)))}
	all := append([]*ad.Node{qn, zn, on(w1, w), gn, q0, g0}, numbers...)
	inputs, batched := append([]*ad.Node{at, kick, step}, density.Given...), append([]*ad.Node{at, kick}, density.Batched...)
	return []*ad.Node{ad.Concat(0, all...), ad.Concat(0, append([]*ad.Node{qn}, numbers...)...), ad.Concat(0, zn, gn)},
		ad.Settings{Inputs: inputs, Batch: lanes, Batched: batched, Isolate: true, Backend: density.Backend}
}

// NewHMC returns what runs a program of CompileHMC.
func NewHMC(prog *ad.Program, density *Density, lanes int) (*HMC, error) {
	d := density.dim()
	m := &HMC{state: prog.NewState(), dim: d, lanes: lanes, kick: make([]float64, (d+1)*lanes), step: make([]float64, 2+d), begin: make([]float64, lanes)}
	for i := range m.begin {
		m.begin[i] = 1
	}
	for i, v := range density.Values {
		if err := m.state.SetInput(3+i, v); err != nil {
			return nil, err
		}
	}
	return m, m.state.Carry(0, outState)
}

// Place puts the lanes where trajectories stand, one in each.
func (m *HMC) Place(ts []*hamiltonian.FixedLength) error {
	d, n := m.dim, m.lanes
	at := make([]float64, (laneVectors*d+laneNumbers)*n)
	for lane := range n {
		end := &ts[min(lane, len(ts)-1)].Ends[0]
		for k, v := range map[int][]float64{laneQ: end.Q, laneQ0: end.Q, laneG: end.G, laneG0: end.G} {
			scatter(at[k*d*n:], v, lane, n)
		}
		rest := at[laneVectors*d*n:]
		rest[laneLp*n+lane], rest[laneLp0*n+lane] = end.Lp, end.Lp
	}
	m.placed = true
	return m.state.SetInput(0, at)
}

// Follow makes so many steps of length eps of trajectories that have begun, one in each lane, and moves their ends there. All
// have the metric of the first. What a trajectory begins with is what Place or the last call has left; moved says
// for which of them that is the end of the last. slopes asks for momenta and gradients at the ends.
func (m *HMC) Follow(ts []*hamiltonian.FixedLength, moved []bool, eps float64, steps int, slopes bool) error {
	metric := ts[0].Metric
	if len(ts) > m.lanes || len(metric.Grow)+len(metric.Chol)+len(metric.Blocks) > 0 || metric.Sparse != nil {
		return fmt.Errorf("infer: there are %d trajectories for %d lanes: want at most one for each lane, and a diagonal metric", len(ts), m.lanes)
	}
	d, n := m.dim, m.lanes
	if !m.placed {
		if err := m.Place(ts); err != nil {
			return err
		}
	}
	m.step[0], m.step[1] = eps, ts[0].MaxError
	for i := range d {
		if m.step[2+i] = 1; metric.Scale != nil {
			m.step[2+i] = metric.Scale[i]
		}
	}
	for lane := range n {
		k := min(lane, len(ts)-1)
		scatter(m.kick, ts[k].Ends[0].Z, lane, n)
		if m.kick[d*n+lane] = 0; moved[k] {
			m.kick[d*n+lane] = 1
		}
	}
	m.placed = false // until all has gone well
	for _, err := range []error{m.state.SetPart(0, (laneVectors*d+laneBegin)*n, m.begin), m.state.SetInput(1, m.kick), m.state.SetInput(2, m.step)} {
		if err != nil {
			return err
		}
	}
	if err := m.state.Repeat(steps); err != nil {
		return err
	}
	out, more := m.state.OutputFloat64(outEnd), []float64(nil)
	if slopes {
		more = m.state.OutputFloat64(outSlopes)
	}
	if err := m.state.Err(); err != nil {
		return err
	}
	for lane, t := range ts {
		end, rest := &t.Ends[1], out[d*n:]
		gather(end.Q, out, lane, n)
		if slopes {
			gather(end.Z, more, lane, n)
			gather(end.G, more[d*n:], lane, n)
		}
		end.Lp = rest[laneLp*n+lane]
		t.Followed(int(rest[laneSteps*n+lane]), rest[laneWorst*n+lane], rest[laneEnergy*n+lane], rest[laneAlive*n+lane] == 1)
	}
	m.placed = true
	return nil
}
