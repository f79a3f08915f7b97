// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// The search for starts climbs from modeSearchStarts random places, and each chain takes one of the modes found. Chains that happen
// to take the same one agree with each other and do not know of the others, so R-hat cannot tell. After a run the modes of that search,
// and those found from the prior (mode_points.go), are therefore compared with those that climbs from draws come to. Two places belong
// to one mode if the log density between them dips by no more than modeDip below the lower of them.
const (
	modeDip = 3.0
	// modeShare is the estimated part of the posterior from which a mode is missed.
	modeShare = 0.01
	// modeClimbs is the number of draws from which climbs start.
	modeClimbs = 8
	// modeHessian is the largest dimension in which second derivatives estimate the mass of every mode, and modeDoubt that in which they do so where a mode would be told
	// otherwise. Beside them there are the scales along a climb, by which masses of one mode differ by a factor of e^100.
	modeHessian, modeDoubt = 200, 600
	// modeFlat is the Newton decrement below which a climb has reached a mode.
	modeFlat = 1e-2
)

// searchModes looks for modes that no chain visited. It returns nil where starts were given, since they say which modes are meant, and
// where chains did not end.
func (f *Fit) searchModes() (m *modeFinder) {
	defer func() { _ = recover() }() // of the target: it has done its work
	random := !slices.ContainsFunc(f.cfg.Init, func(q []float64) bool { return q != nil })
	if f.cfg.Method != NUTS || f.cfg.NoWarmup || !random || f.Stopped != "" || len(f.chains) == 0 {
		return nil
	}
	for c, n := range f.n {
		if n == 0 || n < f.cfg.Draws || f.chains[c].target.Dim() == 0 {
			return nil
		}
	}
	c := f.chains[0]
	m = &modeFinder{fit: f, target: declaredOf(c.target)}
	if rest := marginalOf(c.target); rest != nil && rest.laplace == nil {
		m.target = rest.Clone()
	}
	if metric := &c.ad.Metric; metric.Sparse != nil && metric.Dim() == m.Dim() && movedOf(c.target) == nil {
		m.metric = metric
	}
	m.climbFromDraw(0)
	for _, end := range c.pool.all(c) {
		if end.err == nil {
			m.tryFrom(m.sought(whole(c.target, end.at.Q)), "the search for starts")
		}
	}
	m.tryFromPrior()
	return m
}

// FindModes climbs from places in unconstrained coordinates, such as those of modes that an earlier attempt missed. The modes that it comes
// to, that hold a part of the posterior, and that the draws do not represent are among MissedModes from then on, with the given finder. It
// does nothing where the run did not search for modes itself: after an interrupt, without a warm-up, and where starts were given.
func (f *Fit) FindModes(by string, places ...[]float64) {
	defer func() { _ = recover() }() // of the target: it has done its work
	if f.modes == nil {
		return
	}
	f.modes.limit = 0
	for _, q := range places {
		f.modes.tryFrom(f.modes.sought(q), by)
	}
}

// modeFinder collects the modes of a posterior after a run. It evaluates the log density for climbs and counts.
type modeFinder struct {
	fit *Fit
	// target has no parameters that are integrated out exactly: they have one mode given the others, and where these leave them no room, as a scale of 0 does, the density as
	// declared grows without end over no part of the posterior.
	target Target
	// metric is that of the chains in the coordinates of target, if it is sparse: climbs along hundreds of parameters that depend on each other take a tenth of the steps with it. nil otherwise.
	metric *hamiltonian.Metric
	// calls is the number of evaluations so far. At limit, if that is not 0, evaluations fail.
	calls, limit int
	// known are the modes found, first those to which climbs from draws led.
	known []summit
	// minor are modes that hold next to nothing of the posterior.
	minor []summit
	// visited is the number of draws from which climbs have started, and total the largest mass of their modes and of those missed.
	visited int
	total   float64
	missed  []missedMode
}

// missedMode is a mode that no chain visited, with the logarithm of its mass.
type missedMode struct {
	diag.MissedMode
	mass float64
}

var errSpent = errors.New("the evaluations of the mode search are spent")

// Dim and LogProbGrad are those of the target.
func (m *modeFinder) Dim() int { return m.target.Dim() }

func (m *modeFinder) LogProbGrad(q, g []float64) (float64, error) {
	if m.calls++; m.limit > 0 && m.calls > m.limit {
		return 0, errSpent
	}
	return m.target.LogProbGrad(q, g)
}

// sought returns the parameters of the target of those of the model.
func (m *modeFinder) sought(q []float64) []float64 {
	if rest := marginalOf(m.target); rest != nil {
		return rest.project(q)
	}
	return q
}

// climbFromDraw climbs from draw k of those that stand for all.
func (m *modeFinder) climbFromDraw(k int) {
	chains := m.fit.chains
	rows := chains[k%len(chains)].kept.rows[:m.fit.n[k%len(chains)]]
	if m.visited++; k == 0 {
		m.total = math.Inf(-1)
	}
	if at, is := m.climb(m.sought(rows[len(rows)-1-(k/len(chains))*len(rows)/2])); is {
		m.known, m.total = append(m.known, at), max(m.total, at.mass)
	}
}

// tryFrom climbs from q. If that leads to a mode that holds a part of the posterior and that no chain visited, it is told.
func (m *modeFinder) tryFrom(q []float64, by string) {
	at, is := m.climb(q)
	if !is {
		return
	}
	if !(m.share(at.mass) > modeShare) {
		m.minor = append(m.minor, at)
		return
	}
	limit := m.limit
	defer func() { m.limit = limit }()
	m.limit = 0 // a mode that was found is compared with the draws in full, or a part of a known mode would be told
	if m.connects(at) {
		return
	}
	for m.visited < modeClimbs { // the draws may be in more than one mode
		m.climbFromDraw(m.visited)
	}
	if !m.connects(at) && m.measured(&at) && m.counts(at) && !m.visits(at) {
		share := m.share(at.mass)
		q := whole(m.target, at.q)
		found := m.fit.describeMode(declaredOf(m.target), q, share)
		found.By, found.At = by, slices.Clone(q)
		m.missed, m.total = append(m.missed, missedMode{found, at.mass}), max(m.total, at.mass)
		m.missed = slices.DeleteFunc(m.missed, func(k missedMode) bool { return !(m.share(k.mass) > modeShare) })
	}
	m.known = append(m.known, at) // each is told once
}

// counts reports whether a mode holds a part of the posterior. Where its mass is rough it must be as high as one that was visited, too; height alone would not do, since
// the density of a hierarchy grows without end towards its neck.
func (m *modeFinder) counts(at summit) bool {
	lowest := math.Inf(-1)
	if at.root == nil && len(m.known) > 0 {
		lowest = slices.MinFunc(m.known, func(a, b summit) int { return cmp.Compare(a.lp, b.lp) }).lp + math.Log(modeShare)
	}
	return m.share(at.mass) > modeShare && at.lp > lowest
}

// share is the estimated part of the posterior in a mode, compared with the largest that was visited or missed.
func (m *modeFinder) share(mass float64) float64 { return 1 / (1 + math.Exp(m.total-mass)) }

// connects reports whether a mode belongs to a known one.
func (m *modeFinder) connects(at summit) bool {
	return slices.ContainsFunc(m.known, func(k summit) bool { return m.connected(k, at) })
}

// connected reports whether the log density on the straight line between two modes stays near that of the lower one.
func (m *modeFinder) connected(a, b summit) bool {
	const steps = 12
	q, g := make([]float64, len(a.q)), make([]float64, len(a.q))
	floor := min(a.lp, b.lp) - modeDip
	for k := 1; k < steps; k++ {
		t := float64(k) / steps
		for i := range q {
			q[i] = a.q[i] + t*(b.q[i]-a.q[i])
		}
		if lp, err := m.LogProbGrad(q, g); err != nil || !(lp >= floor) {
			return false
		}
	}
	return true
}

// climb goes from q to the mode above and estimates its mass. It returns false if that mode has been reached before, or if the density there is not
// that of a mode.
func (m *modeFinder) climb(q []float64) (summit, bool) {
	at, g := slices.Clone(q), make([]float64, len(q))
	lp, err := m.LogProbGrad(at, g)
	if err != nil || !linalg.Finite(lp) || !linalg.AllFinite(g) {
		return summit{}, false
	}
	a := newAscent(m, at, g, lp)
	a.first, a.metric = m.firstStep(q), m.metric
	heights := []float64{lp}
	for len(heights) <= ascentLongest {
		reached := func(k summit) bool { return k.holds(a.q, a.lp) }
		if slices.ContainsFunc(m.known, reached) || slices.ContainsFunc(m.minor, reached) {
			return summit{}, false
		}
		up, err := a.step()
		if err != nil {
			return summit{}, false
		}
		heights = append(heights, a.lp)
		if k := len(heights) - 1; !up || k >= ascentSteps && a.lp-heights[k-ascentSteps] < 1e-9 {
			break
		}
	}
	return m.summitOf(a)
}

// firstStep is the length of the first step of a climb: short of what the density does nearby, so that it does not leave a narrow mode.
func (m *modeFinder) firstStep(q []float64) float64 {
	nearest := 1.0
	for _, k := range m.known {
		nearest = min(nearest, math.Sqrt(squaredDistance(q, k.q)))
	}
	return 1e-3 * max(nearest, 1e-3)
}

// summit is a mode that a climb reached, with Laplace's estimate of the logarithm of its mass.
type summit struct {
	q        []float64
	lp, mass float64
	// scale are the scales along the climb.
	scale []float64
	// root is the lower Cholesky factor of the negative second derivatives, row-major; nil if they are too many.
	root []float64
}

// summitOf returns the mode at the end of a climb. It returns false where that is none.
func (m *modeFinder) summitOf(a *ascent) (summit, bool) {
	at := summit{q: a.q, lp: a.lp, mass: a.lp, scale: a.scale()}
	for _, s := range at.scale {
		at.mass += math.Log(s)
	}
	return at, len(a.q) > modeHessian || m.measure(&at)
}

// measured measures a mode whose mass is rough, and those that are known, before it is told. It returns false where it is no mode, or none of the others is.
func (m *modeFinder) measured(at *summit) bool {
	if at.root != nil || len(at.q) > modeDoubt {
		return true
	}
	if !m.measure(at) {
		return false
	}
	m.total = math.Inf(-1)
	for k := range m.known {
		if s := &m.known[k]; s.root != nil || m.measure(s) {
			m.total = max(m.total, s.mass)
		}
	}
	return !math.IsInf(m.total, -1)
}

// measure computes the second derivatives H at a mode by differences of the gradient, and the logarithm of its mass, but for a constant:
//
//	lp - log det(-H)/2
//
// It returns false where -H is not positive definite, or where a Newton step would still gain something, as in a long curved valley in which the climb came to a halt.
func (m *modeFinder) measure(at *summit) bool {
	n := len(at.q)
	h, up, down, q := make([]float64, n*n), make([]float64, n), make([]float64, n), slices.Clone(at.q)
	for i, scale := range at.scale {
		step := 1e-3 * scale
		q[i] = at.q[i] + step
		_, first := m.LogProbGrad(q, up)
		q[i] = at.q[i] - step
		_, second := m.LogProbGrad(q, down)
		q[i] = at.q[i]
		if first != nil || second != nil {
			return false
		}
		for j := range n {
			h[i*n+j] = (down[j] - up[j]) / (2 * step)
		}
	}
	if _, err := m.LogProbGrad(q, up); err != nil {
		return false
	}
	half, decrement := 0.0, 0.0 // log det(-H)/2; |L^-1 g|^2, twice what a Newton step would gain
	for i := range n {
		for j := range i + 1 {
			s := (h[i*n+j] + h[j*n+i]) / 2
			for k := range j {
				s -= h[i*n+k] * h[j*n+k]
			}
			if j < i {
				h[i*n+j] = s / h[j*n+j]
				continue
			}
			if !(s > 0) {
				return false
			}
			h[i*n+i] = math.Sqrt(s)
			half += math.Log(s) / 2
		}
		s := up[i]
		for k := range i {
			s -= h[i*n+k] * q[k]
		}
		q[i] = s / h[i*n+i]
		decrement += q[i] * q[i]
	}
	at.root, at.mass = h, at.lp-half
	return decrement < modeFlat
}

// holds reports whether a place with log density lp belongs to the mode: its distance, by the second derivatives, is one at which
// draws lie, and the log density is what they say. In another, narrower mode it would be higher.
func (s *summit) holds(q []float64, lp float64) bool {
	n := len(q)
	if s.root == nil {
		return false
	}
	far := 0.0 // |L^T (q - mode)|^2
	for j := range n {
		z := 0.0
		for i := j; i < n; i++ {
			z += s.root[i*n+j] * (q[i] - s.q[i])
		}
		far += z * z
	}
	return far < float64(n)+6*math.Sqrt(float64(2*n)) && s.expects(lp, far)
}

// expects reports whether a log density is about what the second derivatives say at a squared distance, by these derivatives, of far.
func (s *summit) expects(lp, far float64) bool { return math.Abs(s.lp-far/2-lp) < 1+far/4 }

// visits reports whether draws lie in a mode.
func (m *modeFinder) visits(at summit) bool {
	g := make([]float64, m.Dim())
	for k, c := range m.fit.chains {
		for i, row := range c.kept.rows[:m.fit.n[k]] {
			q, lp := m.sought(row), c.kept.stats[i].LogProb
			if len(q) < len(row) {
				var err error
				if lp, err = m.LogProbGrad(q, g); err != nil {
					continue
				}
			}
			if at.holds(q, lp) {
				return true
			}
		}
	}
	return false
}

// describeMode names the coordinate in which a mode is farthest from the draws, in units of their spread.
func (f *Fit) describeMode(t Target, q []float64, share float64) diag.MissedMode {
	at, most := 0, -1.0
	for i := range q {
		lo, hi, mean, square, n := math.Inf(1), math.Inf(-1), 0.0, 0.0, 0.0
		for k, d := range f.chains {
			for _, row := range d.kept.rows[:f.n[k]] {
				lo, hi = min(lo, row[i]), max(hi, row[i])
				n++
				delta := row[i] - mean
				mean += delta / n
				square += delta * (row[i] - mean)
			}
		}
		beyond := max(lo-q[i], q[i]-hi, 0)
		if z := (beyond + 1e-3*math.Abs(q[i]-mean)) / math.Sqrt(max(square/n, 1e-300)); z > most {
			at, most = i, z
		}
	}
	m := diag.MissedMode{Share: share, Lowest: math.Inf(1), Highest: math.Inf(-1)}
	m.Name, m.Value = describe(t, q, at)
	named := f.Draws(m.Name)
	for k, d := range f.chains {
		for i, row := range d.kept.rows[:f.n[k]] {
			v := row[at] // of a quantity that has no column
			if named != nil {
				v = named[k][i]
			}
			m.Lowest, m.Highest = min(m.Lowest, v), max(m.Highest, v)
		}
	}
	return m
}
