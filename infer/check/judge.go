// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Level is the probability that a correct model is flagged nevertheless.
const Level = 0.01

// Settings are the settings of Judge. The zero value is the default.
type Settings struct {
	// Level is the probability that a correct model is flagged nevertheless, over all tests
	// together. Default Level.
	Level float64
}

// test is one statistic with its p-value under a correct model.
type test struct {
	kind     string
	of       string // what was tested, such as an axis
	p        float64
	effect   float64     // size of the effect, by which flags are ordered
	harmless bool        // whether nothing depends on it, significant or not, so that it is only noted
	forgiven bool        // whether the fit was told to expect it, so that it is only noted
	always   bool        // whether to note it even if it is not significant
	points   []int       // outlying points
	columns  [][]float64 // columns of departures that the model could absorb
	gain     gain
	named    *Direction // departure that has a name; nil for the others
	say      func(t *test) Flag
}

// farOff is the reduced chi-square above which residuals no longer have the form that small
// departures would leave, and so cannot tell one departure from another.
const farOff = 3

// mostRounds is the largest number of departures that are named one after another.
const mostRounds = 5

// Judge tests everything that d holds, as the method Judge of Workspace does, with memory of its own.
// To judge many small fits, use a Workspace.
func Judge(d Data, s Settings) (Verdict, error) { return new(Workspace).Judge(d, s) }

// Judge tests everything that d holds. Its p-values are combined by Holm's method, so that a correct
// model is flagged with a probability of at most Settings.Level. If a departure is found, it is
// added to the model and the rest is tested again, so that the flags name causes and not their
// consequences. The error is about inconsistent arguments.
func (m *Workspace) Judge(d Data, s Settings) (Verdict, error) {
	if err := d.check(); err != nil {
		return Verdict{}, err
	}
	level := cmp.Or(s.Level, Level)
	if !(level > 0 && level < 1) {
		return Verdict{}, fmt.Errorf("check: the level is %g: want a number between 0 and 1, such as 0.01", level)
	}
	v := Verdict{P: math.NaN(), Reduced: math.NaN(), Expected: [2]float64{math.NaN(), math.NaN()}, Points: len(d.Z)}
	d.Relative = d.Relative || d.SigmaEstimated
	d.remarks(&v)
	d.atPredicted(&v)
	m.reset()
	w := m.residuals(&d)
	w.level = level
	v.DoF = int(w.dof())
	v.Residuals, v.Axes = slices.Clone(w.studentised), d.Axes
	if len(d.Z) == 0 {
		v.add(Flag{Kind: KindUnjudged, Text: "the model has no observations, so there are no data to judge it by", Remedy: "declare with Observe what was measured"}, false)
	} else if v.DoF < 1 {
		v.add(NothingLeft(), false)
	} else if w.square > 1e280 || w.square < 1e-280 && norm(w.z) > 0 {
		v.add(Flag{Kind: KindUnjudged, Text: fmt.Sprintf("the residuals are about %.2g, and their squares are beyond the range of 64-bit numbers", norm(w.z)/math.Sqrt(w.dof())), Remedy: "give the data in other units"}, false)
	} else if f, without := w.withoutNoise(); without {
		v.Reduced, v.Expected = w.square/w.dof(), [2]float64{w.expected(0, w.dof()), w.expected(1, w.dof())}
		v.add(f, false)
	} else {
		w.verdict(&v, level)
		w.sizeBeforeOutliers(&v)
		if len(v.Flags) == 0 && v.DoF <= d.OnBounds { // bounds alone keep the model off some points, so that agreement means nothing
			v.add(NothingLeft(), false)
		}
	}
	v.OK = len(v.Flags) == 0
	return v, nil
}

// verdict tests, names the strongest departure, adds it to the model and tests again.
func (w *residuals) verdict(v *Verdict, level float64) {
	if f, off := w.offMinimum(); off {
		v.add(f, false)
	}
	w.known(v)
	square, dof := w.atPoint()
	v.Reduced = square / dof
	if w.d.Robust { // the fit's own number: what least squares would gain is not what the loss asks for
		v.Reduced = dot(w.d.Z, w.d.Z) / w.dof()
	}
	if !w.d.Relative && !w.d.SigmaFitted {
		v.Expected = [2]float64{w.expected(0, dof), w.expected(1, dof)}
	} else {
		v.Reduced = math.NaN()
	}
	about := append(w.aboutParameters(), w.pullTest())
	about = slices.DeleteFunc(about, func(t test) bool { return t.say == nil })
	tests := w.tests(about)
	adjusted := holm(tests)
	v.P = slices.Min(append(adjusted, 1))
	v.Tests = make([]Test, len(tests))
	for i, t := range tests {
		v.Tests[i] = Test{t.kind, t.of, t.p, adjusted[i]}
	}
	reportAll(v, tests[:len(about)], adjusted, level)
	small := true // the misfit is one that linear departures can tell of
	for range mostRounds {
		best := strongest(tests, adjusted, level)
		if best < 0 {
			break
		}
		f := tests[best].flag()
		f.addRivals(tests, adjusted, best, level)
		v.add(f, tests[best].harmless || tests[best].forgiven)
		w.absorb(tests[best].columns)
		if tests[best].points != nil {
			w.absorb(unit(w.n, w.withOthers(tests[best].points)[len(tests[best].points):]))
		}
		if w.dof() < 5 {
			return
		}
		if now := w.square / w.dof(); !w.d.Relative && now > farOff {
			text := fmt.Sprintf("even with that in the model, the reduced chi-square would be about %.3g: the model is far from the data, and the finding above names only the single cause that explains most", now)
			if tests[best].harmless || tests[best].forgiven { // the finding is only noted
				text = fmt.Sprintf("apart from %s, the reduced chi-square would be about %.3g: the model is far from the data", tests[best].kind, now)
			}
			v.add(Flag{Kind: KindSize, Text: text,
				Remedy: "start the fit elsewhere or change the model, and judge it again"}, false)
			if tests[best].gain.share > 0.5 {
				return
			}
			small = false
			break
		}
		tests = w.tests(about)
		adjusted = holm(tests)
	}
	if !small {
		tests = w.tests(about)
		adjusted = holm(tests)
		for i, t := range tests {
			if t.columns != nil || t.kind == KindSize {
				adjusted[i] = 1 // said already, or not told apart
			}
		}
	}
	reportAll(v, tests[len(about):], adjusted[len(about):], level)
}

// reportAll reports what no departure explains, the largest effect first. A sum of squares that is
// off follows from most other faults and so comes last; a varying spread is reported along the axis
// that shows it best.
func reportAll(v *Verdict, tests []test, adjusted []float64, level float64) {
	var order []int
	for i := range tests {
		if adjusted[i] <= level || tests[i].always {
			order = append(order, i)
		}
	}
	last := func(i int) float64 { return truth(tests[i].kind == KindSize) }
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(tests[b].effect, tests[a].effect))
	})
	spread := false
	for _, i := range order {
		t := &tests[i]
		if t.kind == KindSpread && adjusted[i] <= level {
			if spread {
				continue
			}
			spread = true
		}
		if adjusted[i] <= level && !t.follows(tests) {
			v.add(t.flag(), t.harmless || t.forgiven)
		} else if t.always {
			v.add(t.flag(), true)
		}
	}
}

// flag puts a finding into words.
func (t *test) flag() Flag {
	f := t.say(t)
	f.Kind, f.P, f.Forgiven = t.kind, t.p, t.forgiven
	return f
}

// strongest returns the significant departure that explains most, or -1. A named departure takes
// precedence over an unnamed pattern, unless the pattern explains twice as much.
func strongest(tests []test, adjusted []float64, level float64) int {
	best := -1
	for i := range tests {
		t := &tests[i]
		if t.columns == nil || adjusted[i] > level || t.follows(tests) {
			continue
		}
		if best < 0 || t.before(&tests[best]) {
			best = i
		}
	}
	return best
}

func (t *test) before(u *test) bool {
	const tiny = 1e-100
	if named := t.named != nil; named != (u.named != nil) {
		a, b := t, u
		if !named {
			a, b = u, t
		}
		return (a.gain.share > b.gain.share/2) == named
	}
	if t.expected() != u.expected() {
		a, b := t, u
		if u.expected() {
			a, b = u, t
		}
		return (a.gain.share > b.gain.share/2) == t.expected()
	}
	if t.p > tiny || u.p > tiny {
		return t.p < u.p
	}
	return t.gain.share > u.gain.share
}

// expected reports whether a test is that of a departure that is known to be there.
func (t *test) expected() bool { return t.named != nil && t.named.Expected }

// addRivals names departures of other kinds that explain nearly as much as the best.
func (f *Flag) addRivals(tests []test, adjusted []float64, best int, level float64) {
	b := tests[best]
	for i, t := range tests {
		if b.named == nil || b.named.Expected || t.named == nil || t.columns == nil || adjusted[i] > level || t.gain.share < 0.7*b.gain.share || t.kind == b.kind || slices.Contains(f.Rivals, t.kind) {
			continue
		}
		if f.Rivals = append(f.Rivals, t.kind); len(f.Rivals) == 1 {
			also, _ := t.named.Say(t.gain.coef, t.gain.sd)
			f.Text += "; another possible cause explains the residuals nearly as well: " + also
		}
	}
	if len(f.Rivals) > 1 {
		f.Text += ". Departures of these other kinds would explain them nearly as well, too: " + listed(f.Rivals[1:])
	}
}

// follows reports whether points are far away because the scatter is larger where they lie.
func (t *test) follows(tests []test) bool {
	return t.kind == KindOutliers && slices.ContainsFunc(tests, func(u test) bool { return u.kind == KindSpread && u.p < t.p })
}

// round is what the tests of the residuals share while they are made.
type round struct {
	axes     []Axis // axes along which the residuals may change
	outliers []int  // points that are too far away
}

// testsOf appends tests of the residuals to the list that it is given.
type testsOf = func(w *residuals, r *round, all []test) []test

// stage is where a verdict reports what a test finds: what stands for many points comes before single points, and the shape of what is
// left over comes last.
type stage int

const (
	departureStage stage = iota // directions that have names
	patternStage                // along the axes
	neighbourStage
	pointStage
	shapeStage // of the distribution of all points, and its spread
	stages
)

// battery holds the tests of the residuals by stage. The file of each registers it.
var battery [stages][]testsOf

func register(s stage, tests testsOf) { battery[s] = append(battery[s], tests) }

// tests returns some tests and, after them, those of the residuals; they are valid until the next call. Rounding errors have no other
// property than their size.
func (w *residuals) tests(about []test) []test {
	all := append(append(w.mem.tests[:0], about...), w.sizeTest())
	if w.absorbed || !w.exact() {
		r := &round{axes: w.axes()}
		for _, tests := range battery {
			for _, t := range tests {
				all = t(w, r, all)
			}
		}
	}
	w.mem.tests = slices.DeleteFunc(all, func(t test) bool { return t.say == nil || math.IsNaN(t.p) })
	return w.mem.tests
}

// axes returns the axes along which the residuals may change: those of the data, and the order in which they stand.
func (w *residuals) axes() []Axis {
	axes := w.d.Axes
	if len(axes) == 0 && w.d.Grid == nil {
		axes = []Axis{{Name: pointAxis, Values: w.mem.counting(w.n)}}
	}
	if a, ok := w.asMeasured(axes); ok {
		axes = append(slices.Clone(axes), a)
	}
	return axes
}

// mostAlong is the largest number of axes along which neighbours are compared.
const mostAlong = 4

// asMeasured returns the order of the residuals as an axis, unless they lie on a detector or one of
// the other axes has the same order.
func (w *residuals) asMeasured(axes []Axis) (Axis, bool) {
	if w.d.Grid != nil {
		return Axis{}, false
	}
	places := w.mem.counting(w.n)
	for _, a := range axes {
		if w.sameOrder(a.Values, places) {
			return Axis{}, false
		}
	}
	return Axis{Name: orderOf + "the data", Values: places}, true
}

// graphs returns the pairs of neighbours.
func (w *residuals) graphs(axes []Axis) []graph {
	if w.pairs != nil {
		return w.pairs
	}
	grid := w.d.Grid
	if grid == nil {
		for _, a := range axes[:min(mostAlong, len(axes))] {
			w.pairs = append(w.pairs, w.along(a))
		}
		return w.pairs
	}
	n := len(grid.Shape)
	if n >= 2 {
		w.pairs = append(w.pairs, grid.pixels("on the detector", n-2, n-1))
	}
	for axis := range max(n-2, n%2) {
		if grid.Shape[axis] > 1 {
			w.pairs = append(w.pairs, grid.pixels("along "+grid.Names[axis], axis))
		}
	}
	return w.pairs
}

// sameOrder reports whether b rises or falls monotonically with a.
func (w *residuals) sameOrder(a, b []float64) bool {
	same, reverse := true, true
	for _, p := range w.mem.order(a).neighbours() {
		i, k := p[0], p[1]
		step := cmp.Compare(a[k], a[i])
		same = same && cmp.Compare(b[k], b[i]) == step
		reverse = reverse && cmp.Compare(b[i], b[k]) == step
	}
	return same || reverse
}

// aboutParameters returns the tests of bounds and priors.
func (w *residuals) aboutParameters() (all []test) {
	for _, b := range w.d.Bounds {
		all = append(all, b.test())
	}
	for _, p := range w.d.Priors {
		p.together = math.NaN()
		if p.P < 1 {
			p.together = w.conflict(p)
		}
		all = append(all, p.test())
	}
	return all
}

// remarks adds the flags and notes that need no test.
func (d *Data) remarks(v *Verdict) {
	for _, f := range d.Findings {
		v.add(f, f.Note)
	}
	if d.SigmaEstimated {
		v.add(Flag{Kind: KindSize, Text: "the errors were estimated from how the data scatter, so neither the size of the residuals nor how it varies tells whether the model is right"}, true)
	}
	for _, a := range d.Altered {
		v.add(Flag{Kind: a.Kind, Text: a.Text, Remedy: a.Remedy}, a.Note)
	}
	for _, u := range d.Unknown {
		remedy := "fix it, tie it to another parameter, or give it a prior"
		if strings.ContainsAny(u, " ,") { // a combination
			remedy = "fix one of these parameters, tie one to another, or give one a prior"
		}
		v.add(Flag{Kind: KindUnknown, Where: u, Text: "the data do not determine " + u, Remedy: remedy}, false)
	}
}

// holm returns the adjusted p-values of Holm's method.
//
// Reference: Holm 1979, Scandinavian Journal of Statistics 6, 65.
func holm(tests []test) []float64 {
	order := make([]int, len(tests))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(tests[a].p, tests[b].p) })
	out, largest := make([]float64, len(tests)), 0.0
	for rank, i := range order {
		largest = max(largest, min(1, tests[i].p*float64(len(tests)-rank)))
		out[i] = largest
	}
	return out
}
