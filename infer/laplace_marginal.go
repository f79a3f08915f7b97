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
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/internal/gaussian"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/tensor"
)

// Laplace's approximation leaves an error in the density of the parameters h that are left. It is taken out by a second decision about each draw: with the mean w of
//
//	p(h, x_k)/(q(x_k | h) p~(h)),  k = 1 .. 8
//
// over draws x_k of the normal approximation q, which is p(h)/p~(h) on average, a draw is taken with the probability min(1, w/w before), and the one before kept otherwise.
// One of the x_k, drawn by their weights, belongs to it. The chain then has the right distribution of h and x, whatever w is, because the random numbers of w belong to the bits of h and
// stay with it. A wide scatter of w shows in its Pareto shape.
//
// Reference: Andrieu and Roberts, doi:10.1214/07-AOS574; Christen and Fox, doi:10.1198/106186005X76983.

const (
	laplaceDraws = 8
	// newtonRuns bounds the evaluations on the way to the mode, and newtonHalvings the halvings of one step.
	newtonRuns, newtonHalvings = 300, 30
	// newtonTrial is the number of modes after which no more than newtonMean evaluations may be spent on each in the mean.
	newtonTrial, newtonMean = 200, 40
	// newtonDamping is the smallest number that damps a step. It grows by factors of 10.
	newtonDamping = 1e-3
	// newtonEnd is the square of the step, in standard deviations, after which one more step is the last.
	newtonEnd = 1e-10
)

// laplaceFault says why Laplace's approximation does not serve a posterior, which is then sampled with all parameters.
type laplaceFault struct{ why string }

func (e *laplaceFault) Error() string {
	return ErrLaplace.Error() + ": " + e.why + ": sample all parameters"
}
func (e *laplaceFault) Unwrap() error { return ErrLaplace }

// unfitFor returns the fault of a warm-up that failed.
func unfitFor(err error) error {
	var fault *laplaceFault
	if errors.As(err, &fault) {
		return fault
	}
	if err == nil {
		err = errNoMode
	}
	return &laplaceFault{"chains do not move with Laplace's approximation (" + strings.TrimPrefix(err.Error(), "infer: ") + ")"}
}

const (
	// laplaceTaken is the mean probability of the second decision about a draw below which chains would stay at few draws.
	laplaceTaken = 0.8
	// laplaceStep is the step, in units of the metric, below which chains creep.
	laplaceStep = 0.01
	// laplaceLooks bounds the number of draws whose weights are looked at.
	laplaceLooks = 400
)

// judgeLaplace says at the end of a round that Laplace's approximation does not serve: where chains creep, since the mode jumps, and where many draws would not be taken.
func (p *pool) judgeLaplace(now [][]drawn) error {
	m := marginalOf(p.at)
	if m == nil || m.laplace == nil {
		return nil
	}
	longest := 0.0
	for _, c := range p.members {
		longest = max(longest, c.step)
	}
	if p.round > 1 && longest < laplaceStep {
		return &laplaceFault{fmt.Sprintf("chains creep with Laplace's approximation, by steps of %.2g standard deviations", longest)}
	}
	if !p.settled {
		return nil
	}
	m = m.Clone().(*marginal)
	var logs []float64
	for _, chain := range now {
		every := (len(chain)*len(now) + laplaceLooks - 1) / laplaceLooks
		for k := 0; k < len(chain); k += every {
			log, err := m.logWeight(chain[k].z)
			if err != nil {
				log = math.Inf(-1)
			}
			logs = append(logs, log)
		}
	}
	taken, pairs := 0.0, 0.0
	for i, from := range logs {
		for j := i + 1; j < len(logs); j++ {
			taken, pairs = taken+math.Exp(-math.Abs(logs[j]-from)), pairs+1
		}
	}
	if taken = (1 + taken/pairs) / 2; !(taken >= laplaceTaken) {
		return &laplaceFault{fmt.Sprintf("only %.0f %% of the draws of Laplace's approximation would be taken", 100*taken)}
	}
	return nil
}

// laplaced is what a marginal target has where it is approximate.
type laplaced struct {
	*gaussian.Approximation
	mode *ad.Program // log density as declared, square of the step, the step, log det and the Nodes of the damped precision
	prog *ad.Program // log density and its gradient
}

// approximate returns the target with what can be integrated out by Laplace's approximation.
func approximate(t Target) (*marginal, error) {
	none := &laplaceFault{"no parameters were found that are normal but for what data tell of each of them"}
	full, ok := t.(Movable)
	outputs, has := t.(Outputs)
	if !ok || !has || movement(full) == nil {
		return nil, none
	}
	move := movement(full)
	density := &gaussian.Density{LogProb: move.LogProb, Inputs: move.Inputs, Given: move.Given, GivenValues: move.GivenValues}
	a := density.Approximate()
	if a == nil {
		return nil, none
	}
	m := newMarginal(full, outputs, move, []gaussian.Block{{Inputs: a.Inputs}})
	m.laplace = &laplaced{Approximation: a}
	compile := func(outputs ...*ad.Node) (*ad.Program, error) {
		return ad.Compile(outputs, ad.Settings{Inputs: slices.Concat(move.Inputs, move.Given, []*ad.Node{a.Damping}), Backend: ad.CPU{Threads: 1}})
	}
	var errs [2]error
	m.laplace.mode, errs[0] = compile(append([]*ad.Node{move.LogProb, ad.Sum(ad.Mul(a.Slope, a.Step)), a.Step, a.LogDet()}, a.Damped.Nodes()...)...)
	m.laplace.prog, errs[1] = compile(append([]*ad.Node{a.LogProb}, a.Gradient...)...)
	return m, errors.Join(errs[:]...)
}

// toMode moves x to its mode given h, both in the input of the program for it, always from 0, so that the mode depends on h alone. The error is local to h where there is no mode.
// Where the precision is not positive definite on the way, as beside heavy tails, Newton's method is damped.
func (m *marginal) toMode(h []float64) (*ad.State, error) {
	if m.at == nil {
		m.at = graph.State(m.laplace.mode, len(m.move.Inputs), m.move.GivenValues)
	}
	s := m.at
	if m.modes++; m.tried && m.modes > newtonTrial && m.runs > newtonMean*m.modes {
		return nil, &laplaceFault{fmt.Sprintf("Newton's method takes %d steps on average to the mode of Laplace's approximation", m.runs/m.modes)}
	}
	span, damping := s.InputSpan(0, len(m.move.Inputs)), s.Input(len(m.move.Inputs)+len(m.move.GivenValues))
	clear(span)
	m.put(h, span)
	damping[0] = 0
	if err := s.Run(); err != nil {
		return nil, atPoint(err)
	}
	x, next := make([]float64, len(s.Output(2))), make([]float64, len(s.Output(2)))
	runs := 0
	defer func() { m.runs += runs }()
	for runs < newtonRuns {
		for ; !(s.Output(1)[0] >= 0) || math.IsNaN(s.Output(3)[0]); runs++ {
			if damping[0] = max(newtonDamping, 10*damping[0]); damping[0] > 1e15 {
				return nil, errNoMode
			}
			if err := s.Run(); err != nil {
				return nil, atPoint(err)
			}
		}
		lp, square, damped := s.Output(0)[0], s.Output(1)[0], damping[0]
		if damping[0] /= 10; damping[0] < newtonDamping {
			damping[0] = 0
		}
		step, part := slices.Clone(s.Output(2)), 1.0
		for try := 0; ; try++ {
			for i := range x {
				next[i] = x[i] + part*step[i]
			}
			m.putBlock(next, span)
			err := s.Run()
			if runs++; err == nil && s.Output(0)[0] >= lp-1e-9*(1+math.Abs(lp)) {
				break
			}
			if try == newtonHalvings {
				return nil, errNoMode
			}
			part /= 2
		}
		copy(x, next)
		if square < newtonEnd && part == 1 && damped == 0 {
			if math.IsNaN(s.Output(3)[0]) {
				return nil, errNoMode
			}
			return s, s.Err()
		}
	}
	return nil, errNoMode
}

var errNoMode = Reject(errors.New("infer: Laplace: no mode was found"))

// laplaceGrad is LogProbGrad.
func (m *marginal) laplaceGrad(h, g []float64) (float64, error) {
	s, err := m.toMode(h)
	if err != nil {
		return math.NaN(), err
	}
	if m.run == nil {
		m.run = graph.State(m.laplace.prog, len(m.move.Inputs), m.move.GivenValues)
	}
	n := len(m.move.Inputs)
	copy(m.run.InputSpan(0, n), s.InputSpan(0, n))
	if err := m.run.Run(); err != nil {
		return math.NaN(), atPoint(err)
	}
	copy(g, m.run.OutputSpan(1, 1+len(m.kept)))
	return m.run.Output(0)[0], m.run.Err()
}

// weigh draws x given h, into all parameters, by the weights of draws of the approximation. It returns what the log density as declared has more than the approximate one, and the
// logarithm of the mean weight. Without random numbers x is the mode.
func (m *marginal) weigh(h, all []float64, src *tensor.Stream) (more, log float64, err error) {
	s, err := m.toMode(h)
	if err != nil {
		return math.NaN(), math.NaN(), err
	}
	n := len(m.move.Inputs)
	span := s.InputSpan(0, n)
	values := make([][]float64, len(m.laplace.Precision.Nodes()))
	for k := range values {
		values[k] = slices.Clone(s.Output(4 + k))
	}
	mean := m.block(span)
	copy(all, span)
	half := m.laplace.Precision.Root(make([]float64, len(mean)), values)
	height := s.Output(0)[0] - half + float64(len(mean))*halfLog2Pi
	if src == nil {
		return s.Output(0)[0] - height, 0, nil
	}
	best, at, logs := math.Inf(-1), make([]float64, len(mean)), make([]float64, laplaceDraws)
	for k := range logs {
		x := make([]float64, len(mean))
		q := gaussian.Draw(x, mean, m.laplace.Precision, values, src)
		m.putBlock(x, span)
		lp := math.Inf(-1)
		if s.Run() == nil && !math.IsNaN(s.Output(0)[0]) {
			lp = s.Output(0)[0]
		}
		logs[k] = lp - q - height
		if chosen := logs[k] - math.Log(-math.Log(src.Float64()+0x1p-54)); chosen > best || k == 0 { // with the probability of the weight
			best, at, more = chosen, x, lp-height
		}
	}
	m.putBlock(at, all)
	return more, logMeanExp(logs), nil
}

// logMeanExp is the logarithm of the mean of exp of numbers.
func logMeanExp(x []float64) float64 {
	top, sum := slices.Max(x), 0.0
	if math.IsInf(top, -1) {
		return top
	}
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum/float64(len(x)))
}

// block returns the parameters that are integrated out, of all.
func (m *marginal) block(all []float64) (x []float64) {
	for _, i := range m.blocks[0].Inputs {
		x = append(x, all[m.first[i]:m.first[i]+m.move.Inputs[i].Size()]...)
	}
	return x
}

// putBlock is the way back.
func (m *marginal) putBlock(x, all []float64) {
	for _, i := range m.blocks[0].Inputs {
		x = x[copy(all[m.first[i]:m.first[i]+m.move.Inputs[i].Size()], x):]
	}
}

// logWeight returns the logarithm of the mean weight at h, whose random numbers are those of expand.
func (m *marginal) logWeight(h []float64) (float64, error) {
	src := tensor.NewStream(seedOf(h), purposeMarginal, 0)
	_, log, err := m.weigh(h, make([]float64, m.dim), &src)
	return log, err
}

// decides reports whether the draw of the next transition needs a second decision.
func (c *chain) decides() bool {
	m := marginalOf(c.target)
	return m != nil && m.laplace != nil && c.phase() == 1
}

// decide makes the second decision about the draw of a transition, which began at before.
func (c *chain) decide(before *hamiltonian.Point) error {
	if slices.Equal(before.Q, c.p.Q) {
		return nil
	}
	m := marginalOf(c.target)
	from, err := m.logWeight(before.Q)
	if err != nil {
		return err
	}
	to, err := m.logWeight(c.p.Q)
	if err != nil {
		return err
	}
	c.weights = append(c.weights, to)
	if !(math.Log(c.choice.Float64()) < to-from) && !math.IsInf(from, -1) {
		c.p.Set(before)
	}
	return nil
}

// laplaceAdvice judges the scatter of the weights by which Laplace's approximation was corrected, nil without one.
func (f *Fit) laplaceAdvice() *diag.Advice {
	if len(f.chains) == 0 || marginalOf(f.chains[0].target) == nil || marginalOf(f.chains[0].target).laplace == nil {
		return nil
	}
	var all []float64
	for _, c := range f.chains {
		all = append(all, c.weights...)
	}
	if len(all) < 100 {
		return nil
	}
	if slices.Max(all)-slices.Min(all) < 1e-6 {
		return &diag.Advice{Check: CheckLaplace, OK: true, Cause: "it is exact"}
	}
	n := float64(len(all))
	_, k := diag.PSIS(all, int(math.Ceil(math.Min(0.2*n, 3*math.Sqrt(n)))))
	a := diag.Advice{Check: CheckLaplace, OK: k <= 0.7, Cause: fmt.Sprintf("the Pareto shape of the weights that correct it is %.2f, at most 0.7 is wanted", k)}
	if !a.OK {
		a.Cause += ", so that its error is too large to be corrected and the draws are not those of the posterior"
		a.Remedy = "sample all parameters, without Laplace's approximation"
	}
	return &a
}

// CheckLaplace is the check of weights that correct Laplace's approximation.
const CheckLaplace diag.Check = "Laplace's approximation"
