// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/tensor"
)

// Tempered sequential Monte Carlo moves a cloud of points from a density that is easy to draw from to the posterior, in steps of an exponent beta
// that are as long as the weights allow. At each step points are drawn again by their weights, and moved by Hamiltonian Monte Carlo until they have
// forgotten where they were. Modes keep the masses that they have, and the product of the mean weights is the evidence.
//
// References: Del Moral, Doucet and Jasra, doi:10.1111/j.1467-9868.2006.00553.x; Zhou, Johansen and Aston, arXiv:1303.3123 (steps of beta);
// Buchholz, Chopin and Jacob, doi:10.1214/20-BA1243 (moves).

const (
	// smcESS is the effective share of the points that a step of beta leaves.
	smcESS = 0.85
	// smcForgotten is the squared correlation with the places before at which moves end, and smcRounds bounds their number.
	smcForgotten, smcRounds = 0.1, 30
	// smcAccept is the acceptance rate at which the step size aims, and smcLength the length of trajectories in units of the metric.
	smcAccept, smcLength = 0.8, 1.8
	smcSteps             = 64
	// smcMetric is the number of points that tell the metric.
	smcMetric = 500
	// smcLevels bounds the steps of beta.
	smcLevels = 2000
	// smcRules is the number of the rules by which points move, part of the fingerprint of a run.
	smcRules = 3
)

const purposeSMC uint32 = 191

// smcRun is a run of islands, which are the chains of the run.
type smcRun struct {
	*run
	path    *temperedPath
	islands []island
	workers []*smcWorker

	metric hamiltonian.Metric
	beta   float64
	level  int
	step   float64
	rate   float64 // of acceptance in the last round
	moved  []bool  // whether each point has moved at the present beta
	still  float64 // share of the points that have not
	rough  float64 // share of trajectories with large energy errors in the last round
	err    error
}

// island is a cloud of points that moves apart from the others, but for beta, metric and step size.
type island struct {
	points []smcPoint
	logZ   float64
	// gradients is the number of evaluations so far.
	gradients int
}

// smcPoint is a place with the two parts of its log density.
type smcPoint struct {
	q          []float64
	base, rest float64
	// g is the gradient of the log density of the target, slope that of base.
	g, slope []float64
}

// lp is the log density at beta; minus infinity where it is not a number.
func (p *smcPoint) lp(beta float64) float64 {
	lp := p.base
	if beta > 0 {
		lp += beta * p.rest
	}
	if math.IsNaN(lp) {
		return math.Inf(-1)
	}
	return lp
}

// tempered writes the gradient of the log density at beta.
func (p *smcPoint) tempered(dst []float64, beta float64) {
	if beta == 0 {
		copy(dst, p.slope)
		return
	}
	for i, v := range p.slope {
		dst[i] = (1-beta)*v + beta*p.g[i]
	}
}

func newSMC(r *run, t Target) (*smcRun, error) {
	path, err := pathTo(t, &r.cfg)
	if err != nil {
		return nil, err
	}
	s := &smcRun{run: r, path: path, step: math.Pow(float64(t.Dim()), -0.25), islands: make([]island, len(r.chains))}
	if err := s.addWorkers(); err != nil {
		return nil, err
	}
	for i, c := range r.chains {
		c.started = true
		if len(r.states[i]) > 0 {
			if err := s.load(i, r.states[i]); err != nil {
				return nil, fmt.Errorf("%w %s: island %d: %w", ErrCheckpoint, r.cfg.Resume, c.id, err)
			}
		}
	}
	return s, nil
}

// sample moves all points to the posterior and records them.
func (s *smcRun) sample() {
	defer func() {
		if s.err != nil {
			s.chains[0].err = s.chains[0].fault(s.err)
		}
	}()
	defer given.Caught(&s.err)
	if s.level == 0 {
		s.err = s.begin()
	}
	for s.err == nil && s.beta < 1 && !s.stop.Load() {
		if s.level == smcLevels {
			s.err = fmt.Errorf("after %d steps beta is still %.3g: the density differs too much from that of %s; start nearer, or sample by NUTS", s.level, s.beta, s.path.from())
			return
		}
		if s.err = s.advance(); s.err == nil && !s.stop.Load() {
			s.keep()
		}
	}
	if s.err == nil && s.beta == 1 && !s.stop.Load() {
		s.err = s.record()
	}
}

// begin draws the points at beta = 0.
func (s *smcRun) begin() error {
	n, dim := s.cfg.Draws, s.path.Dim()
	points, err := s.path.draw(n*len(s.chains), s.cfg.Seed)
	if err != nil {
		return err
	}
	all := make([]int, len(points))
	for i := range s.islands {
		s.islands[i].points, s.islands[i].gradients = make([]smcPoint, n), n
		for k := range n {
			s.islands[i].points[k] = smcPoint{q: points[i*n+k], g: make([]float64, dim), slope: make([]float64, dim)}
			all[i*n+k] = i*n + k
		}
	}
	return s.each(all, func(w *smcWorker, some []int) error {
		for lane, i := range some {
			w.lanes[lane].at = s.point(i)
			w.put(lane, w.lanes[lane].at.q)
		}
		return w.evaluate(w.busy[:len(some)])
	})
}

// point returns point i of all islands.
func (s *smcRun) point(i int) *smcPoint { return &s.islands[i/s.cfg.Draws].points[i%s.cfg.Draws] }

// each calls f for the points of some numbers, as many at once as workers have lanes. What points come together does not depend on the workers.
func (s *smcRun) each(numbers []int, f func(w *smcWorker, some []int) error) error {
	lanes := len(s.workers[0].lanes)
	errs := make([]error, len(s.workers))
	parallel.Do(len(s.workers), (len(numbers)+lanes-1)/lanes, func(worker, i int) {
		if errs[worker] == nil && !s.stop.Load() {
			defer given.Caught(&errs[worker])
			errs[worker] = f(s.workers[worker], numbers[i*lanes:min((i+1)*lanes, len(numbers))])
		}
	})
	return errors.Join(errs...)
}

// advance makes one step of beta.
func (s *smcRun) advance() error {
	next, err := s.next()
	if err != nil {
		return err
	}
	before := s.beta
	s.beta, s.level = next, s.level+1
	for i := range s.islands {
		if err := s.islands[i].resample(next-before, s.stream(uint32(i)|1<<30, 0)); err != nil {
			return fmt.Errorf("island %d: %w", s.chains[i].id, err)
		}
	}
	s.learnMetric()
	return s.move()
}

// stream returns a stream of random numbers for a round of moves.
func (s *smcRun) stream(id uint32, round int) tensor.Stream {
	out := tensor.NewStream(s.cfg.Seed, purposeSMC, id)
	out.Seek(uint64(s.level*2*smcRounds+round+1) << 24)
	return out
}

// next returns the beta at which smcESS of the points are effective.
func (s *smcRun) next() (float64, error) {
	effective := func(beta float64) float64 {
		var n, sum, squares float64
		most := math.Inf(-1)
		s.rests(func(rest float64) { most = max(most, (beta-s.beta)*rest) })
		s.rests(func(rest float64) {
			w := math.Exp((beta-s.beta)*rest - most)
			n, sum, squares = n+1, sum+w, squares+w*w
		})
		return sum * sum / squares / n
	}
	n := 0
	s.rests(func(float64) { n++ })
	if n == 0 {
		return 0, fmt.Errorf("the log density is finite at none of %d draws from %s: check the data, or narrow the priors", s.cfg.Draws*len(s.islands), s.path.from())
	}
	if effective(1) >= smcESS {
		return 1, nil
	}
	low, high := s.beta, 1.0
	for range 60 {
		mid := low + (high-low)/2
		if s.beta == 0 && low == 0 {
			mid = high / 16 // the first steps may be tiny
		}
		if effective(mid) >= smcESS {
			low = mid
		} else {
			high = mid
		}
	}
	if !(low > s.beta) {
		return 0, fmt.Errorf("no step from beta = %.3g leaves enough points: their log likelihoods are too far apart for %d draws from %s", s.beta, s.cfg.Draws*len(s.islands), s.path.from())
	}
	return low, nil
}

// rests calls f with the finite rests of all points.
func (s *smcRun) rests(f func(rest float64)) {
	for _, island := range s.islands {
		for i := range island.points {
			if r := island.points[i].rest; !math.IsInf(r, -1) {
				f(r)
			}
		}
	}
}

// resample weighs the points for a step of beta, and draws as many by their weights, systematically.
func (l *island) resample(step float64, u tensor.Stream) error {
	n, most, sum := len(l.points), math.Inf(-1), 0.0
	for i := range l.points {
		most = max(most, step*l.points[i].rest)
	}
	if math.IsInf(most, -1) {
		return fmt.Errorf("the log density is finite at none of the %d points: take more draws", n)
	}
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Exp(step*l.points[i].rest - most)
		sum += w[i]
	}
	l.logZ += most + math.Log(sum/float64(n))
	next, at, k := make([]smcPoint, 0, n), w[0], 0
	offset := u.Float64()
	for i := range n {
		for want := (float64(i) + offset) / float64(n) * sum; at < want && k < n-1; {
			k++
			at += w[k]
		}
		p := l.points[k]
		p.q, p.g, p.slope = slices.Clone(p.q), slices.Clone(p.g), slices.Clone(p.slope)
		next = append(next, p)
	}
	l.points = next
	return nil
}

// learnMetric estimates the metric of all moves from points and their gradients.
func (s *smcRun) learnMetric() {
	n := s.cfg.Draws * len(s.islands)
	dim := s.path.Dim()
	estimate := warmup.NewEstimator(LowRank, dim, false)
	count := min(n, max(smcMetric, 4*dim))
	for k := range count {
		if p := s.point(k * n / count); !math.IsInf(p.lp(s.beta), -1) {
			g := make([]float64, dim)
			p.tempered(g, s.beta)
			estimate.Add(p.q, g)
		}
	}
	if m, ok := estimate.Metric(); ok {
		s.metric = m
	}
}

// move moves all points at the present beta until they have forgotten where they were.
func (s *smcRun) move() error {
	before := s.features()
	s.moved = make([]bool, s.cfg.Draws*len(s.islands))
	remembered := 1.0
	limit := smcForgotten
	if s.beta == 1 { // these are the draws
		limit /= 10
	}
	for round := 1; round <= smcRounds && s.err == nil && !s.stop.Load(); round++ {
		s.round(round)
		last := remembered
		if remembered = remembrance(before, s.features()); remembered < limit || round >= 8 && remembered > 0.9*last {
			break
		}
	}
	return s.err
}

// round moves every point once, and learns the step size. Points whose trajectories are about as long move together.
func (s *smcRun) round(round int) {
	longest := min(smcSteps, max(1, int(math.Ceil(2*smcLength/s.step)))) // half of it on average
	n := s.cfg.Draws * len(s.islands)
	moves, numbers := make([]smcMove, n), make([]int, n)
	for i := range moves {
		m := &moves[i]
		m.momentum, m.choice = s.stream(uint32(2*i), round), s.stream(uint32(2*i+1), round)
		m.steps, numbers[i] = 1+int(m.choice.Float64()*float64(longest)), i
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return moves[a].steps - moves[b].steps })
	s.err = s.each(numbers, func(w *smcWorker, some []int) error { return w.move(s, some, moves) })
	if s.err != nil || s.stop.Load() {
		return
	}
	sum, still, rough := 0.0, 0, 0
	for i := range moves {
		sum += moves[i].rate
		if s.moved[i] = s.moved[i] || moves[i].moved; !s.moved[i] {
			still++
		}
		if !(moves[i].worst <= warmup.RoughError) {
			rough++
		}
		s.islands[i/s.cfg.Draws].gradients += moves[i].made
	}
	s.rate, s.still, s.rough = sum/float64(n), float64(still)/float64(n), float64(rough)/float64(n)
	s.step *= math.Exp(1.5 * (s.rate - smcAccept))
}

// features are the coordinates of all points and the parts of their log densities, one row each.
func (s *smcRun) features() [][]float64 {
	dim := s.path.Dim()
	out := make([][]float64, dim+2)
	for _, island := range s.islands {
		for _, p := range island.points {
			for k, v := range p.q {
				out[k] = append(out[k], v)
			}
			out[dim], out[dim+1] = append(out[dim], p.base), append(out[dim+1], p.rest)
		}
	}
	return out
}

// remembrance is the mean squared correlation of coordinates, or that of a part of the log density if it is more.
func remembrance(a, b [][]float64) float64 {
	mean, most := 0.0, 0.0
	for k := range a {
		c := stat.Correlation(a[k], b[k], nil)
		if math.IsNaN(c) { // one of them does not vary
			continue
		}
		if k < len(a)-2 {
			mean += c * c / float64(len(a)-2)
		} else {
			most = max(most, c*c)
		}
	}
	return max(mean, most)
}

// record makes the points draws of the run.
func (s *smcRun) record() error {
	for i, c := range s.chains {
		island := &s.islands[i]
		c.tr.Count, c.warmupGrads, c.ad.StepSize = island.gradients, island.gradients-len(island.points), s.step
		for k := range island.points {
			p := &island.points[k]
			copy(c.p.Q, p.q)
			c.p.Lp = p.lp(1)
			if err := c.record(&hamiltonian.Transition{Steps: 1, Accept: s.rate, Symmetric: s.rate, Energy: -c.p.Lp}); err != nil {
				return err
			}
			c.done++
		}
		c.publish()
	}
	return nil
}

// evidence returns the estimate of the integral, or nil before the end.
func (s *smcRun) evidence() *Evidence {
	if s.err != nil || s.beta < 1 {
		return nil
	}
	e := &Evidence{Still: s.still, Rough: s.rough, Levels: s.level, From: s.path.from(), Unnormalised: unnormalised(s.chains[0].target)}
	most, n := math.Inf(-1), float64(len(s.islands))
	for _, l := range s.islands {
		e.Islands, most = append(e.Islands, l.logZ), max(most, l.logZ)
	}
	mean, square := 0.0, 0.0
	for _, z := range e.Islands {
		mean += math.Exp(z-most) / n
	}
	for _, z := range e.Islands {
		square += math.Pow(math.Exp(z-most)-mean, 2)
	}
	e.Log, e.Error = most+math.Log(mean), math.NaN()
	if n > 1 {
		e.Error = math.Sqrt(square/(n-1)/n) / mean
	}
	e.Modes = s.masses()
	return e
}

// masses returns the shares of the modes, nil if there are not several.
func (s *smcRun) masses() (modes []ModeShare) {
	places := map[int]int{} // number of a part of the path to that of its mode
	for k, part := range s.path.modes {
		if s.path.group[k] == k {
			places[k], modes = len(modes), append(modes, ModeShare{Q: part.mean})
		}
	}
	if len(modes) < 2 {
		return nil
	}
	n := float64(len(s.islands))
	squares := make([]float64, len(modes))
	for _, l := range s.islands {
		counts := make([]float64, len(modes))
		for i := range l.points {
			counts[places[s.path.group[s.path.nearest(l.points[i].q)]]] += 1 / float64(len(l.points))
		}
		for k, c := range counts {
			modes[k].Share += c / n
			squares[k] += c * c / n
		}
	}
	for k := range modes {
		m := &modes[k]
		m.Values = m.Q
		if c := s.chains[0]; c.outputs != nil {
			m.Values = make([]float64, c.outputs.Len())
			if err := writeOrNaN(c.outputs, m.Q, m.Values); err != nil {
				m.Values = nil
			}
		}
		few := m.Share * (1 - m.Share) / (n * float64(s.cfg.Draws)) // of as many independent points
		m.Error = math.Sqrt(max(few, (squares[k]-m.Share*m.Share)/max(1, n-1)))
	}
	return modes
}

// keep saves the islands for the checkpoint, and shows how far they are.
func (s *smcRun) keep() {
	for i, c := range s.chains {
		c.tr.Count, c.ad.StepSize = s.islands[i].gradients, s.step
		c.publish()
		c.view.draw.Store(int64(s.beta * float64(s.cfg.Draws-1)))
		if s.cfg.Checkpoint.Path != "" {
			b := s.save(i)
			s.mu.Lock()
			s.states[i], s.epochs[i] = b, math.MaxInt64
			s.mu.Unlock()
		}
	}
}

func (s *smcRun) save(i int) []byte {
	var w checkpoint.Encoder
	l := &s.islands[i]
	w.Float(s.beta)
	w.Int(s.level)
	w.Float(s.step)
	w.Float(s.rate)
	w.Float(s.still)
	w.Float(s.rough)
	w.Float(l.logZ)
	w.Int(l.gradients)
	w.Int(len(l.points))
	for _, p := range l.points {
		w.Floats(p.q)
		w.Float(p.base)
		w.Float(p.rest)
		w.Floats(p.g)
		w.Floats(p.slope)
	}
	return w.Encoded()
}

func (s *smcRun) load(i int, b []byte) error {
	r := checkpoint.Decode(b)
	l := &s.islands[i]
	beta, level := r.Float(), r.Int()
	if i > 0 && level != s.level {
		return fmt.Errorf("it is at step %d and others at %d", level, s.level)
	}
	s.beta, s.level, s.step, s.rate = beta, level, r.Float(), r.Float()
	s.still, s.rough = r.Float(), r.Float()
	l.logZ, l.gradients = r.Float(), r.Int()
	dim := s.path.Dim()
	for range r.Count(8 * (3*dim + 5)) {
		p := smcPoint{q: make([]float64, dim), g: make([]float64, dim), slope: make([]float64, dim)}
		r.FloatsInto(p.q)
		p.base, p.rest = r.Float(), r.Float()
		r.FloatsInto(p.g)
		r.FloatsInto(p.slope)
		l.points = append(l.points, p)
	}
	r.End()
	if r.Err() == nil && len(l.points) != s.cfg.Draws {
		return fmt.Errorf("it has %d points, but %d draws are wanted: resume with as many as at first", len(l.points), s.cfg.Draws)
	}
	return r.Err()
}
