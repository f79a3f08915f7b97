// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/lockstep"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/tensor"
)

// Points move in lanes: where the density is a graph, one run of its program makes a leapfrog step of as many trajectories as there are lanes, on the
// processor or on a GPU. All else is done lane by lane.
const (
	// smcLanes is the number of lanes on the processor, and smcDeviceLanes the largest on a GPU.
	smcLanes, smcDeviceLanes = 64, 4096
	// smcMemory is the number of bytes that lanes on the processor take at most. If smcFewest lanes take more, places are evaluated one by one.
	smcMemory, smcFewest = 32 << 20, 8
)

// smcWorker moves points, one in each lane.
type smcWorker struct {
	places *lockstep.Places // nil where each place is evaluated by itself
	// within says that places has the wide distribution, too.
	within bool
	lanes  []smcLane
	busy   []int           // numbers of the lanes that go on
	paths  []*temperedPath // one for each goroutine
}

// smcLane is a trajectory.
type smcLane struct {
	fixed            *hamiltonian.FixedLength
	momentum, choice tensor.Stream
	from             hamiltonian.Point
	at               *smcPoint // where the density is evaluated
	end              smcPoint
	worst            float64
	alive            bool
	err              error
}

// smcMove is what a point does in a round.
type smcMove struct {
	momentum, choice tensor.Stream
	// steps is the number of leapfrog steps of the trajectory, and made that of those up to a divergence.
	steps, made int
	rate        float64 // of acceptance
	moved       bool
	worst       float64 // energy error on the way
}

// addWorkers makes a worker for each GPU that the density runs on, or for each goroutine.
func (s *smcRun) addWorkers() error {
	d := s.path.lanes()
	if d != nil && !ad.OnProcessor(d.Backend) {
		if done, err := s.addDevices(d); done || err != nil {
			return err
		}
	}
	prog, lanes := s.onProcessor(d)
	for range s.cfg.Parallel {
		s.addWorker(prog, d, lanes, 1)
	}
	return nil
}

// addDevices reports whether the density is to run on GPUs.
func (s *smcRun) addDevices(d *lockstep.Density) (bool, error) {
	all, n := ad.Spread(d.Backend), s.cfg.Draws*len(s.chains)
	lanes := min((n+len(all)-1)/len(all), smcDeviceLanes)
	for _, b := range all {
		d.Backend = b
		prog, err := lockstep.CompilePlaces(d, lanes)
		if err != nil {
			return false, fmt.Errorf("infer: %d points of SMC in lanes: %w", lanes, err)
		}
		if prog.Device() == "cpu" { // too small, says Auto
			return false, nil
		}
		s.addWorker(prog, d, lanes, s.cfg.Parallel)
	}
	return true, nil
}

// onProcessor returns a program for many places, or nil where they are evaluated one by one.
func (s *smcRun) onProcessor(d *lockstep.Density) (*ad.Program, int) {
	if d == nil {
		return nil, 1
	}
	d.Backend = ad.CPU{Threads: 1}
	for lanes := smcLanes; lanes >= smcFewest; lanes /= 2 {
		prog, err := lockstep.CompilePlaces(d, lanes)
		if err != nil { // an operation has no form for lanes
			break
		}
		if prog.Bytes() <= smcMemory {
			return prog, lanes
		}
	}
	return nil, 1
}

func (s *smcRun) addWorker(prog *ad.Program, d *lockstep.Density, lanes, threads int) {
	w, dim := &smcWorker{lanes: make([]smcLane, lanes), busy: make([]int, lanes)}, s.path.Dim()
	if prog != nil {
		w.places, w.within = lockstep.NewPlaces(prog, d, lanes), len(d.Outputs) > 1+len(d.Parameters)
	}
	for range threads {
		w.paths = append(w.paths, s.path.Clone().(*temperedPath))
	}
	for i := range w.lanes {
		l := &w.lanes[i]
		l.fixed = hamiltonian.NewFixedLength(s.path, &s.metric, 1, s.cfg.MaxEnergyError, &l.momentum, &l.choice)
		l.from = hamiltonian.NewPoint(dim)
		l.end = smcPoint{q: l.fixed.Ends[1].Q, g: make([]float64, dim), slope: make([]float64, dim)}
		w.busy[i] = i
	}
	s.workers = append(s.workers, w)
}

// put writes a place for the next evaluation.
func (w *smcWorker) put(lane int, q []float64) {
	if w.places != nil {
		w.places.Put(lane, q)
	}
}

// each calls f for some lanes.
func (w *smcWorker) each(lanes []int, f func(path *temperedPath, lane int, l *smcLane)) {
	parallel.Do(len(w.paths), len(lanes), func(thread, i int) { f(w.paths[thread], lanes[i], &w.lanes[lanes[i]]) })
}

// evaluate computes the parts of the log density and their gradients where some lanes are.
func (w *smcWorker) evaluate(lanes []int) (err error) {
	together := w.places != nil
	if together {
		if err := w.places.Run(); ad.IsDeviceFault(err) {
			return err
		} else if err != nil { // of one lane, perhaps
			together = false
		}
	}
	w.each(lanes, func(path *temperedPath, lane int, l *smcLane) {
		lp, base := 0.0, 0.0
		if l.err = nil; together {
			lp, base = w.read(path, lane, l.at)
		} else {
			lp, base, l.err = path.alone(l.at.q, l.at.g, l.at.slope)
		}
		l.err = l.at.set(lp, base, l.err)
	})
	for _, lane := range lanes {
		if err = w.lanes[lane].err; err != nil {
			break
		}
	}
	return err
}

// read returns the log density of the target and the base in a lane, with the gradients of both.
func (w *smcWorker) read(path *temperedPath, lane int, p *smcPoint) (lp, base float64) {
	n, wide := len(p.q), 0.0
	w.places.Read(p.g, 1, lane)
	if w.within {
		wide = w.places.Number(1+n, lane)
		w.places.Read(p.slope, 2+n, lane)
	} else {
		wide = path.wideAt(p.q, p.slope)
	}
	return w.places.Number(0, lane), path.mixture(p.q, wide, p.slope)
}

// set gives a point the parts of its log density. An error that rejects the point makes the density 0 there.
func (p *smcPoint) set(lp, base float64, err error) error {
	if err != nil && !hamiltonian.Recoverable(err) {
		return err
	}
	if p.base, p.rest = base, lp-base; err != nil || math.IsNaN(p.rest) {
		p.rest = math.Inf(-1)
	}
	if math.IsInf(p.rest, 1) || math.IsInf(p.base, 1) {
		return ErrInfinite
	}
	return nil
}

// move moves some points, each by a trajectory.
func (w *smcWorker) move(s *smcRun, points []int, moves []smcMove) error {
	for i := range w.lanes {
		w.put(i, s.point(points[min(i, len(points)-1)]).q)
	}
	all := w.busy[:len(points)]
	w.each(all, func(_ *temperedPath, i int, l *smcLane) { l.begin(s.point(points[i]), &moves[points[i]], s.beta) })
	lanes := make([]int, 0, len(points))
	for step := 1; ; step++ {
		lanes = lanes[:0]
		for i, k := range points {
			if l := &w.lanes[i]; l.alive && step <= moves[k].steps {
				lanes = append(lanes, i)
			}
		}
		if len(lanes) == 0 || s.stop.Load() {
			break
		}
		w.each(lanes, func(_ *temperedPath, i int, l *smcLane) {
			l.fixed.Depart(&l.fixed.Ends[1], s.step)
			w.put(i, l.end.q)
		})
		if err := w.evaluate(lanes); err != nil {
			return err
		}
		w.each(lanes, func(_ *temperedPath, i int, l *smcLane) {
			moves[points[i]].made++
			if l.arrive(s.beta, s.step); !l.alive {
				w.put(i, l.from.Q)
			}
		})
	}
	if s.stop.Load() {
		return nil
	}
	w.each(all, func(_ *temperedPath, i int, l *smcLane) { l.err = l.finish(s.point(points[i]), &moves[points[i]]) })
	for i := range all {
		if w.lanes[i].err != nil {
			return w.lanes[i].err
		}
	}
	return nil
}

// begin begins the trajectory of a point.
func (l *smcLane) begin(p *smcPoint, m *smcMove, beta float64) {
	l.momentum, l.choice, l.worst, l.alive, l.at = m.momentum, m.choice, 0, true, &l.end
	copy(l.from.Q, p.q)
	p.tempered(l.from.G, beta)
	l.from.Lp = p.lp(beta)
	l.fixed.Begin(&l.from)
}

// arrive ends a leapfrog step after the evaluation.
func (l *smcLane) arrive(beta, eps float64) {
	end := &l.fixed.Ends[1]
	end.Lp = l.end.lp(beta)
	l.end.tempered(end.G, beta)
	l.fixed.Arrive(end, eps)
	off := end.Energy() - l.fixed.H0
	l.worst = math.Max(l.worst, math.Abs(off))
	l.alive = off <= l.fixed.MaxError
}

// finish moves a point to the end of its trajectory, or leaves it.
func (l *smcLane) finish(p *smcPoint, m *smcMove) error {
	l.fixed.Followed(m.made, l.worst, l.fixed.Ends[1].Energy(), l.alive)
	out, moved, err := l.fixed.End(&l.from)
	if err != nil {
		return err
	}
	m.rate, m.worst, m.moved = out.Rate(false), l.worst, moved
	if moved {
		copy(p.q, l.end.q)
		copy(p.g, l.end.g)
		copy(p.slope, l.end.slope)
		p.base, p.rest = l.end.base, l.end.rest
	}
	return nil
}
