// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/infer/internal/lockstep"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// temperedPath goes from a mixture of distributions that can be drawn from, at beta = 0, to a target, at beta = 1:
//
//	log density = base + beta rest,  base = log of the mixture,  rest = log density of the target - base
//
// Half of the mixture is wide: the priors where the target is a Posterior all of whose parameters have priors to draw from, else a normal
// distribution about 0. The other half are normal distributions at the modes that climbs find, wider than the target is there; without them a
// narrow mode would hold next to nothing on the way, however much it holds at the end.
type temperedPath struct {
	wideDensity
	modes []normalPart
	// group holds for each of the modes the number of the first that belongs to the same.
	group []int
	// across holds what a place is in units of each mode, and share the logarithm of what each adds to the density.
	across, share []float64
}

// wideDensity is a target with a wide distribution around it.
type wideDensity interface {
	Target
	// lanes is the density as a graph, for many places at once: the log density and its gradient, and those of the wide distribution if they
	// are part of it. It is nil where there is no graph.
	lanes() *lockstep.Density
	// wideAt writes the gradient of the wide log density where the target was evaluated last, and returns it.
	wideAt(q, g []float64) float64
	drawWide(n int, seed uint64) ([][]float64, error)
	from() string
}

// normalPart is a normal distribution with the lower Cholesky factor of its precision, row-major.
type normalPart struct {
	mean, root []float64
	constant   float64 // log density at the mean
}

const (
	// pathClimbs is the number of climbs to modes, from places of the wide distribution.
	pathClimbs = 16
	// pathWiden is by how much the normal distributions at modes are widened.
	pathWiden = 2
)

// pathTo returns the path to a target.
func pathTo(t Target, cfg *Settings) (*temperedPath, error) {
	p := &temperedPath{wideDensity: &aroundZero{Target: t, sd: 1.5 * cfg.InitRadius}}
	if post, ok := t.(*Posterior); ok {
		switch prior, err := post.withPrior(); {
		case err != nil:
			return nil, err
		case prior != nil:
			p.wideDensity = prior
		}
	}
	if err := p.findModes(cfg); err != nil {
		return nil, err
	}
	return p.Clone().(*temperedPath), nil
}

// findModes climbs from draws of the wide distribution, and from Settings.Init.
func (t *temperedPath) findModes(cfg *Settings) error {
	n := t.Dim()
	if n > modeHessian {
		return nil
	}
	starts, err := t.drawWide(pathClimbs, cfg.Seed^uint64(purposeSMC))
	if err != nil {
		return err
	}
	finder, g := &modeFinder{target: t.wideDensity}, make([]float64, n)
	for _, q := range append(starts, cfg.Init...) {
		if q == nil {
			continue
		}
		if lp, err := t.wideDensity.LogProbGrad(q, g); err != nil || !linalg.Finite(lp) {
			continue
		}
		if at, is := finder.climb(q); is && at.root != nil {
			finder.known = append(finder.known, at)
		}
	}
	for k, at := range finder.known {
		first := slices.IndexFunc(finder.known[:k], func(o summit) bool { return finder.connected(o, at) })
		if first < 0 {
			first = k
		} else {
			first = t.group[first]
		}
		t.group = append(t.group, first)
		for i := range at.root {
			at.root[i] /= pathWiden
		}
		t.modes = append(t.modes, newNormalPart(at.q, at.root))
	}
	return nil
}

func newNormalPart(mean, root []float64) normalPart {
	n := len(mean)
	part := normalPart{mean: mean, root: root, constant: -float64(n) * halfLog2Pi}
	for i := range n {
		part.constant += math.Log(root[i*n+i])
	}
	return part
}

// Clone is the method of Target.
func (t *temperedPath) Clone() Target {
	c := *t
	n := t.Dim()
	c.wideDensity = t.wideDensity.Clone().(wideDensity)
	c.across, c.share = make([]float64, n*max(1, len(t.modes))), make([]float64, len(t.modes))
	return &c
}

// alone computes the log density of the target and the base at one place, and the gradients of both.
func (t *temperedPath) alone(q, g, slope []float64) (lp, base float64, err error) {
	if lp, err = t.LogProbGrad(q, g); err != nil {
		return lp, math.NaN(), err
	}
	return lp, t.mixture(q, t.wideAt(q, slope), slope), nil
}

// mixture returns the log density of the mixture, of which wide is that of the wide part. In slope is the gradient of that part, and afterwards
// that of the mixture.
func (t *temperedPath) mixture(q []float64, wide float64, slope []float64) float64 {
	if len(t.modes) == 0 {
		return wide
	}
	n := len(q)
	wide -= math.Ln2
	most := wide
	for k, part := range t.modes {
		t.share[k] = part.constant - math.Ln2 - math.Log(float64(len(t.modes)))
		z := part.white(q, t.across[k*n:(k+1)*n])
		t.share[k] -= linalg.FastDot(z, z) / 2
		most = max(most, t.share[k])
	}
	sum := math.Exp(wide - most)
	linalg.Scale(slope, sum)
	for k, part := range t.modes {
		w := math.Exp(t.share[k] - most)
		if w == 0 {
			continue
		}
		sum += w
		z := t.across[k*n : (k+1)*n]
		for i := range n {
			slope[i] -= w * linalg.FastDot(part.root[i*n:i*n+i+1], z[:i+1])
		}
	}
	linalg.Scale(slope, 1/sum)
	return most + math.Log(sum)
}

// nearest returns the number of the mode whose normal distribution has the highest density at a place.
func (t *temperedPath) nearest(q []float64) (at int) {
	most := math.Inf(-1)
	for k, part := range t.modes {
		lp := part.constant
		for _, z := range part.white(q, t.across[:len(q)]) {
			lp -= z * z / 2
		}
		if lp > most {
			at, most = k, lp
		}
	}
	return at
}

// white returns root^T (q - mean) in z.
func (p *normalPart) white(q, z []float64) []float64 {
	n := len(q)
	clear(z)
	for i := range n {
		d := q[i] - p.mean[i]
		for j := range i + 1 {
			z[j] += p.root[i*n+j] * d
		}
	}
	return z
}

// drawInto turns normal numbers into a draw.
func (p *normalPart) drawInto(z []float64) {
	n := len(z)
	for j := n - 1; j >= 0; j-- { // root^T x = z
		for i := j + 1; i < n; i++ {
			z[j] -= p.root[i*n+j] * z[i]
		}
		z[j] /= p.root[j*n+j]
	}
	linalg.AddScaled(z, 1, p.mean)
}

// draw returns n points of the mixture, those of all parts mixed.
func (t *temperedPath) draw(n int, seed uint64) ([][]float64, error) {
	wide := n
	if len(t.modes) > 0 {
		wide = (n + 1) / 2
	}
	points, err := t.drawWide(wide, seed)
	if err != nil {
		return nil, err
	}
	src := tensor.NewStream(seed, purposeSMC, 1<<31)
	for k := range n - wide {
		q := src.NormalTo(make([]float64, t.Dim()))
		t.modes[k%len(t.modes)].drawInto(q)
		points = append(points, q)
	}
	mixed := make([][]float64, n)
	for i, k := range src.Perm(n) {
		mixed[i] = points[k]
	}
	return mixed, nil
}

// aroundZero has a normal distribution about 0 around a target.
type aroundZero struct {
	Target
	sd float64
}

func (t *aroundZero) Clone() Target { return &aroundZero{t.Target.Clone(), t.sd} }

func (t *aroundZero) lanes() *lockstep.Density {
	full, ok := t.Target.(Movable)
	if !ok {
		return nil
	}
	m := full.Movement()
	if m == nil {
		return nil
	}
	return &lockstep.Density{Outputs: append([]*ad.Node{m.LogProb}, ad.Grad(m.LogProb, m.Inputs...)...), Parameters: m.Inputs, Given: m.Given, Values: m.GivenValues, Backend: m.Backend}
}

func (t *aroundZero) wideAt(q, g []float64) float64 {
	lp := 0.0
	for i, v := range q {
		z := v / t.sd
		lp -= z*z/2 + math.Log(t.sd) + halfLog2Pi
		g[i] = -z / t.sd
	}
	return lp
}

func (t *aroundZero) drawWide(n int, seed uint64) (points [][]float64, err error) {
	src := tensor.NewStream(seed, purposeSMC, 1<<31+1)
	for range n {
		q := src.NormalTo(make([]float64, t.Dim()))
		linalg.Scale(q, t.sd)
		points = append(points, q)
	}
	return points, nil
}

func (t *aroundZero) from() string {
	return fmt.Sprintf("a normal distribution about 0 with the standard deviation %g", t.sd)
}

// withinPrior is a Posterior whose program tells the priors apart from the rest.
type withinPrior struct {
	*Posterior
	outputs []*ad.Node // the log density and its gradient, and that of the priors with Jacobians and its gradient
	prog    *ad.Program
	at      *ad.State
}

// withPrior returns nil if there are parameters without a prior, or with one that cannot be drawn from.
func (p *Posterior) withPrior() (*withinPrior, error) {
	k := len(p.model.params)
	for _, q := range p.model.params {
		if q.flat {
			return nil, nil
		}
	}
	if points, err := p.priorPoints(1, 0, nil); err != nil || len(points) == 0 {
		return nil, nil
	}
	prior := []*ad.Node{ad.Scalar(0)}
	for i, part := range p.whole[1+k:] {
		if strings.HasPrefix(p.parts[i], "prior of ") || strings.HasPrefix(p.parts[i], "Jacobian of ") {
			prior = append(prior, part)
		}
	}
	sum, params := ad.AddN(prior...), p.inputs[:k]
	outputs := slices.Concat(p.whole[:1+k], []*ad.Node{sum}, ad.Grad(sum, params...))
	prog, err := p.model.program(ad.CPU{Threads: 1}, outputs, append(p.inputs[:len(p.inputs):len(p.inputs)], p.places()...))
	if err != nil {
		return nil, fmt.Errorf("infer: model %s: the path from the prior: %w", p.model.name, err)
	}
	return &withinPrior{Posterior: p, outputs: outputs, prog: prog}, nil
}

// Clone is the method of Target.
func (t *withinPrior) Clone() Target {
	return &withinPrior{Posterior: t.Posterior.Clone().(*Posterior), outputs: t.outputs, prog: t.prog}
}

func (t *withinPrior) lanes() *lockstep.Density {
	d := t.laneDensity()
	d.Outputs = t.outputs
	return d
}

// LogProbGrad is the log density of the posterior.
func (t *withinPrior) LogProbGrad(q, g []float64) (float64, error) {
	k := len(t.model.params)
	if t.at == nil {
		t.at = graph.State(t.prog, k, t.givenValues())
	}
	copy(t.at.InputSpan(0, k), q)
	if err := t.at.Run(); err != nil {
		var fault interface{ AtPoint() bool }
		if errors.As(err, &fault) && fault.AtPoint() {
			err = Reject(err)
		}
		return math.NaN(), err
	}
	copy(g, t.at.OutputSpan(1, 1+k))
	return t.at.Output(0)[0], t.at.Err()
}

func (t *withinPrior) wideAt(_, g []float64) float64 {
	k := len(t.model.params)
	copy(g, t.at.OutputSpan(2+k, 2+2*k))
	return t.at.Output(1 + k)[0]
}

func (t *withinPrior) drawWide(n int, seed uint64) (points [][]float64, err error) {
	for more := range uint64(10) {
		some, err := t.priorPoints(n-len(points), seed+more<<32, nil)
		if err != nil {
			return nil, err
		}
		if points = append(points, some...); len(points) == n {
			return points, nil
		}
	}
	return nil, fmt.Errorf("infer: only %d of %d draws from the priors have finite unconstrained values: narrow the priors, or scale the parameters", len(points), 10*n)
}

func (t *withinPrior) from() string { return "the priors" }
