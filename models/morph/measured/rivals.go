// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/optim"
)

// Derivatives at a solution tell small departures apart. Large ones, whose effects the other parameters have taken over as far as they
// can, are told apart by fits: each possible cause is searched for, and the one that lowers the sum of squares most is named.

// rival is a possible cause of a misfit, tried by a fit.
type rival struct {
	kind, where string
	simpler     string  // kind of a cause that it resembles
	usual       float64 // standard deviation of changes of its parameters that measurements have; 0 for any
	first       int     // of its parameters among those of the task; those after it are its own
	off         []float64
	task        *Task
	starts      [][]float64 // from which the fit is tried
	say         func(s *Solution) (text, remedy string)

	before float64 // least sum of squares at the starts, of exchanges
	fit    *Solution
}

const (
	// rivalGain is the share of what the best explanation explains from which on another is tried, and mostRivals how many are.
	rivalGain, mostRivals = 0.3, 6
	// rivalEvaluations bounds the fit of each.
	rivalEvaluations = 15
	// decisive is the fall of the sum of squares from which on a cause is named, far above what chance could make of a right model.
	decisive = 25.0
	// convincing is that for a fit to data without findings whose parameters are as many: for normal errors chance lets one of 10,000 right
	// models fall by it, P(2 log of the likelihood ratio > 14) <= Phi(-sqrt(14)).
	convincing = 14.0
	// nearly is the difference of two such sums up to which both causes are named.
	nearly = 10.0
	// mostCauses bounds how many causes are found one after another, and mostOfVoxels the rivals of models of voxels, whose fits take long.
	mostCauses, mostOfVoxels = 2, 3
)

// withCause puts the cause that fits best in front, if several causes could explain a misfit or the misfit could be one that derivatives
// cannot show.
func (t *Task) withCause(v check.Verdict, s *Solution, list []looked, causes int) (check.Verdict, error) {
	if causes >= mostCauses || causes > 0 && t.Model.Closed == nil || v.Has(kindNoiseless) {
		return v, nil
	}
	var rivals []rival
	if len(v.Flags) > 0 {
		rivals = t.rivals(s, list)
	}
	sizes := t.sizes(s)
	if len(rivals) < 2 && len(sizes) == 0 {
		rivals = nil // derivatives tell
	}
	switch {
	case len(v.Flags) > 0:
		rivals = append(append(append(rivals, sizes...), t.whole(s)...), t.conventions(s.X, t.starts())...)
		if causes == 0 {
			exchanged, err := t.exchanged(s)
			if err != nil {
				return v, err
			}
			rivals = append(rivals, exchanged...)
		}
	case causes == 0:
		rivals = t.conventions(s.X)
	}
	base, err := t.costAt(s)
	if err == nil && len(v.Flags) == 0 && t.Model.Closed == nil { // a fit is not quick
		rivals, err = lower(rivals, s, base-convincing)
	}
	if err != nil || len(rivals) == 0 {
		return named(v, list), err
	}
	scales := t.scalesOf(s)
	for i := range rivals {
		if err := rivals[i].try(scales); err != nil {
			return v, err
		}
	}
	least := decisive
	if len(v.Flags) == 0 {
		least = convincing
	}
	rivals = slices.DeleteFunc(rivals, func(r rival) bool { return r.fit == nil || !(base-r.fit.cost > least) })
	if len(rivals) == 0 {
		return named(v, list), nil
	}
	slices.SortStableFunc(rivals, func(a, b rival) int { return compare(a.penalised(), b.penalised()) })
	simplerFirst(rivals)
	if err := rivals[0].finish(scales); err != nil {
		return v, err
	}
	return t.with(v, s, base, rivals, causes)
}

// with returns the verdict whose first finding is the best of some rivals, followed by what a verdict on its fit finds.
func (t *Task) with(v check.Verdict, s *Solution, base float64, rivals []rival, causes int) (check.Verdict, error) {
	best := rivals[0]
	f := check.Flag{Kind: best.kind, Where: best.where}
	f.Text, f.Remedy = best.say(best.fit)
	f.Text += fmt.Sprintf("; a fit with it lowers the deviance by %.3g", base-best.fit.cost)
	if name, by := t.farthestMoved(s, best.fit); name != "" {
		f.Text += fmt.Sprintf(", and moves %s by %s standard deviations", name, check.Rough(by))
	}
	for _, r := range rivals[1:] {
		if r.kind == best.kind && r.where == best.where || r.penalised()-best.penalised() > nearly || slices.Contains(f.Rivals, r.kind) {
			continue
		}
		if f.Rivals = append(f.Rivals, r.kind); len(f.Rivals) == 1 {
			also, _ := r.say(r.fit)
			f.Text += "; another possible cause explains the data as well: " + also
		} else {
			f.Text += ", or " + r.kind
		}
	}
	after, list, err := best.task.judge(best.fit, nil)
	if err != nil {
		return v, err
	}
	mended := false
	further := best.kind != kindSizes // whose fits take many times as long
	if further && len(after.Flags) > 0 {
		if after, mended, err = best.task.withoutDefects(after, best.fit, mostMends-1); err != nil {
			return v, err
		}
	}
	if further && !mended {
		if after, err = best.task.withCause(after, best.fit, list, causes+1); err != nil {
			return v, err
		}
	}
	kept := slices.DeleteFunc(v.Flags, func(f check.Flag) bool { return f.Kind != check.KindUnconverged })
	v.OK, v.Flags = false, []check.Flag{f}
	for _, a := range after.Flags {
		if a.Kind != check.KindUnconverged {
			a.Text = "with that in the model, " + strings.TrimPrefix(a.Text, "with that in the model, ")
			v.Flags = append(v.Flags, a)
		}
	}
	v.Flags = append(v.Flags, kept...)
	return v, nil
}

// named moves the finding that a fit did not converge behind a departure that has a name, which is the likely reason.
func named(v check.Verdict, list []looked) check.Verdict {
	if len(v.Flags) < 2 || v.Flags[0].Kind != check.KindUnconverged {
		return v
	}
	if slices.ContainsFunc(list, func(l looked) bool { return l.kind == v.Flags[1].Kind }) {
		v.Flags[0], v.Flags[1] = v.Flags[1], v.Flags[0]
	}
	return v
}

// rivals are the effects that explain nearly as much as the best, and a shift of the photon energies, which other parameters hide.
func (t *Task) rivals(s *Solution, list []looked) (out []rival) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b looked) int { return compare(b.gain, a.gain) })
	most := mostRivals
	if t.Model.Closed == nil {
		most = mostOfVoxels
	}
	for i, l := range list {
		hidden := l.kind == "photon energy"
		if i < most && l.gain > rivalGain*list[0].gain || hidden {
			out = append(out, t.searching(s, l))
		}
		if k := len(out) - 1; hidden {
			out[k].starts = [][]float64{out[k].task.starts(), append(t.starts(), t.off("energy_shift"))}
		}
	}
	return out
}

// searching is the fit that searches for the parameters of an effect, too.
func (t *Task) searching(s *Solution, l looked) rival {
	k := *t
	k.mean, k.Params = nil, slices.Clone(t.Params)
	k.StartAt(s.X)
	first := len(k.Params)
	var at []float64
	for _, name := range l.params {
		off := t.off(name)
		q := Param{Name: name, Start: off + l.step, Mean: off, SD: l.weak}
		if n, _, ok := nuisanceOf(name, math.MaxInt, math.MaxInt); ok {
			g := &guess{Data: t.Model.Data, numbering: t.energies(), foot: &[2]float64{}}
			q.Bounds = n.usual(g, 0).Bounds
		}
		at = append(at, off)
		k.Params = append(k.Params, q)
	}
	return rival{kind: l.kind, where: l.where, simpler: l.simpler, usual: l.usual, first: first, off: at, task: &k, say: func(f *Solution) (string, string) {
		m := moved{Task: t, names: l.params}
		for i := range l.params {
			by, sd := f.X[first+i]-at[i], math.NaN()
			if f.SD != nil {
				sd = f.SD[first+i]
			}
			if l.of != nil {
				by = math.Copysign(l.of(by), by)
			}
			m.by, m.sd = append(m.by, by), append(m.sd, sd)
		}
		text, remedy := l.tells(m)
		return strings.Replace(text, " (a rough estimate)", "", 1), remedy
	}}
}

// simplerFirst puts a cause in front that explains the data about as well as the best, which resembles it.
func simplerFirst(rivals []rival) {
	for i := range rivals {
		if r := rivals[i]; rivals[0].simpler != "" && r.kind == rivals[0].simpler && r.penalised()-rivals[0].penalised() < nearly {
			copy(rivals[1:i+1], rivals[:i])
			rivals[0] = r
			return
		}
	}
}

// penalised is the sum of squares of a rival plus the logarithm of the numbers for each of its parameters (Schwarz's criterion), and how
// unusual it is that a measurement has changes as large as those of its parameters.
func (r *rival) penalised() float64 {
	sum := r.fit.cost + float64(len(r.fit.X))*math.Log(float64(r.fit.Pixels))
	if r.usual > 0 {
		for i, off := range r.off {
			z := (r.fit.X[r.first+i] - off) / r.usual
			sum += z * z
		}
	}
	return sum
}

// starts are the values at which the parameters start.
func (t *Task) starts() (x []float64) {
	for _, p := range t.Params {
		x = append(x, p.Start)
	}
	return x
}

// try fits a rival from all its starts; its fit stays nil if none succeeds.
func (r *rival) try(scales map[string]float64) error {
	starts := r.starts
	if starts == nil {
		starts = [][]float64{nil}
	}
	for _, x := range starts {
		r.task.StartAt(x)
		if r.task.prepare() != nil {
			continue // such as a blur, for whose pixels beyond the detector the voxels are too coarse
		}
		problem, _, err := r.task.problem(scales)
		if err != nil {
			return err
		}
		s, err := r.task.fitAt(context.Background(), problem, optim.Settings{MaxEvaluations: rivalEvaluations}, scales)
		if err == nil && (r.fit == nil || s.cost < r.fit.cost) {
			r.fit = s
		}
	}
	return nil
}

// finish goes on with the fit of a rival until it has converged, where fits are quick, and fills in what follows from it: what a fit that
// ended early lacks would be taken for a further cause.
func (r *rival) finish(scales map[string]float64) error {
	if r.task.Model.Closed != nil && !r.fit.Status.Converged() {
		r.task.StartAt(r.fit.X)
		if err := r.task.prepare(); err != nil {
			return err
		}
		problem, _, err := r.task.problem(scales)
		if err != nil {
			return err
		}
		if s, err := r.task.fitAt(context.Background(), problem, optim.Settings{MaxEvaluations: 4 * rivalEvaluations}, scales); err == nil && s.cost < r.fit.cost {
			r.fit = s
		}
	}
	return r.task.complete(r.fit, scales)
}

// costAt returns the sum of squares at a solution.
func (t *Task) costAt(s *Solution) (float64, error) {
	if s.cost > 0 && len(t.scales()) == 0 { // scales are found after a fit
		return s.cost, nil
	}
	k := *t
	k.mean, k.Params = nil, slices.Clone(t.Params)
	k.StartAt(s.X)
	if err := k.prepare(); err != nil {
		return 0, err
	}
	scales := k.scalesOf(s)
	problem, _, err := k.problem(scales)
	if err != nil {
		return 0, err
	}
	out, err := k.fitAt(context.Background(), problem, optim.Settings{MaxEvaluations: 1}, scales)
	if err != nil {
		return 0, err
	}
	return out.cost, nil
}

// lower returns those of some rivals whose sum of squares at a solution is below a limit without a fit.
func lower(rivals []rival, s *Solution, limit float64) (out []rival, err error) {
	for _, r := range rivals {
		cost, err := r.task.costAt(&Solution{Names: s.Names, X: s.X})
		if err != nil {
			return nil, err
		}
		if cost < limit {
			out = append(out, r)
		}
	}
	return out, nil
}

// farthestMoved returns the parameter of a fit that another one moves by the most of its standard deviations.
func (t *Task) farthestMoved(from, to *Solution) (name string, by float64) {
	for i, n := range from.Names {
		k := slices.Index(to.Names, n)
		if k < 0 || !(to.SD[k] > 0) {
			continue
		}
		if d := (to.X[k] - from.X[i]) / to.SD[k]; math.Abs(d) > math.Abs(by) && !math.IsInf(d, 0) {
			name, by = n, d
		}
	}
	return name, by
}
