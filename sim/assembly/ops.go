// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"math"
	"slices"
)

// The operations of the assembly calculus, as schedules of steps. Each returns what
// its steps did, one entry per step.

// project makes a plan of the fibres and projects it.
func (b *Brain) project(steps int, fibres ...string) ([][]Round, error) {
	if steps < 1 {
		return nil, nil
	}
	p, err := b.Plan(fibres...)
	if err != nil {
		return nil, err
	}
	return b.Project(p, steps)
}

// phases runs one plan after another. All of their fibres must be open.
func (b *Brain) phases(list ...phase) (trace [][]Round, err error) {
	for _, p := range list {
		if p.steps < 1 {
			continue
		}
		plan, err := b.Plan(p.fibres)
		if err != nil {
			return trace, err
		}
		if closed := plan.Closed(); len(closed) > 0 {
			return trace, fmt.Errorf("assembly: the operation needs the fibres %v, but they or their areas are inhibited: disinhibit them first", closed)
		}
		t, err := b.project(p.steps, p.fibres)
		if err != nil {
			return trace, err
		}
		trace = append(trace, t...)
	}
	return trace, nil
}

type phase struct {
	steps  int
	fibres string
}

// Form makes a stimulus form an assembly in an area: one step with the stimulus alone, then steps
// that include the area's own fibre.
func (b *Brain) Form(stimulus, area string, steps int) ([][]Round, error) {
	s := stimulus + ">" + area
	return b.phases(phase{1, s}, phase{steps - 1, s + " " + area + ">" + area})
}

// ProjectInto makes the assembly of one area, which its stimulus keeps firing, form another assembly
// in the next area.
func (b *Brain) ProjectInto(stimulus, from, to string, steps int) ([][]Round, error) {
	s := fmt.Sprintf("%s>%s %s>%s %s>%s", stimulus, from, from, from, from, to)
	return b.phases(phase{1, s}, phase{steps - 1, s + " " + to + ">" + to})
}

// Reciprocal freezes the assembly of from, and lets it and the assembly that it forms in to project
// to each other.
func (b *Brain) Reciprocal(from, to string, steps int) ([][]Round, error) {
	if err := b.Fix(from, true); err != nil {
		return nil, err
	}
	defer b.Fix(from, false)
	s := from + ">" + to
	return b.phases(phase{1, s}, phase{steps - 1, fmt.Sprintf("%s %s>%s %s>%s", s, to, to, to, from)})
}

// Associate fires two stimuli together, so that their assemblies in area to come to overlap.
func (b *Brain) Associate(stimulusA, a, stimulusB, c, to string, steps int) ([][]Round, error) {
	s := fmt.Sprintf("%s>%s %s>%s %s>%s %s>%s %s>%s %s>%s", stimulusA, a, stimulusB, c, a, a, c, c, a, to, c, to)
	return b.phases(phase{1, s}, phase{steps - 1, s + " " + to + ">" + to})
}

// Merge makes two assemblies form a third in area to, which projects back to both.
func (b *Brain) Merge(stimulusA, a, stimulusB, c, to string, steps int) ([][]Round, error) {
	s := fmt.Sprintf("%s>%s %s>%s %s>%s %s>%s", stimulusA, a, stimulusB, c, a, to, c, to)
	own := fmt.Sprintf(" %s>%s %s>%s", a, a, c, c)
	back := fmt.Sprintf(" %s>%s %s>%s %s>%s", to, to, to, a, to, c)
	return b.phases(phase{1, s + own}, phase{steps - 1, s + own + back})
}

// Separated is the result of training two assemblies into an area.
type Separated struct {
	Trained [2][]int32 // winners at the end of the training of each
	Again   [2][]int32 // winners when each is projected once more, without learning
}

// Separate trains two assemblies of area from, which may overlap, into area to, one after the other.
// Area from must not be lazy; its winners are fixed meanwhile.
func (b *Brain) Separate(from, to string, first, second []int32, steps int) (s Separated, err error) {
	if err := b.Fix(from, true); err != nil {
		return s, err
	}
	defer b.Fix(from, false)
	project := func(w []int32, list ...phase) ([]int32, error) {
		if err := b.SetWinners(from, w); err != nil {
			return nil, err
		}
		if _, err := b.phases(list...); err != nil {
			return nil, err
		}
		return b.Winners(to)
	}
	once := phase{1, from + ">" + to}
	for i, w := range [][]int32{first, second} {
		if s.Trained[i], err = project(w, once, phase{steps - 1, once.fibres + " " + to + ">" + to}); err != nil {
			return s, err
		}
	}
	was := b.frozen
	b.frozen = true
	defer func() { b.frozen = was }()
	for i, w := range [][]int32{first, second} {
		if s.Again[i], err = project(w, once); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Preserve projects two sets of winners of area from into area to, one after the other and without
// learning, in a copy of the brain. It returns their overlaps before and after, as fractions of K of
// each area: nearby assemblies have nearby projections.
func (b *Brain) Preserve(from, to string, one, two []int32) (before, after float64, err error) {
	c := b.Clone()
	c.Learn(false)
	var out [2][]int32
	for i, w := range [][]int32{one, two} {
		if err := c.SetWinners(from, w); err != nil {
			return 0, 0, err
		}
		if err := c.SetWinners(to, nil); err != nil {
			return 0, 0, err
		}
		if _, err := c.phases(phase{1, from + ">" + to}); err != nil {
			return 0, 0, err
		}
		if out[i], err = c.Winners(to); err != nil {
			return 0, 0, err
		}
	}
	a, _ := b.area(from)
	d, _ := b.area(to)
	return Overlap(one, two, a.K), Overlap(out[0], out[1], d.K), nil
}

// Settle repeats a step until no area has more than first winners that never fired before. It
// returns the number of steps, which is at most most.
func (b *Brain) Settle(first, most int, fibres ...string) (steps int, err error) {
	p, err := b.Plan(fibres...)
	if err != nil {
		return 0, err
	}
	for steps < most {
		project := b.Continue
		if steps == 0 {
			project = b.Project
		}
		trace, err := project(p, 1)
		if err != nil {
			return steps, err
		}
		steps++
		if !slices.ContainsFunc(trace[0], func(r Round) bool { return r.First > first }) {
			break
		}
	}
	return steps, nil
}

// Complete is pattern completion: it keeps a random fraction of the winners of an area and lets the area's own fibre complete
// them. It returns the overlap with the winners before, as a fraction of K. If there is nothing to
// keep it returns an error, a *SilentError if nothing fires.
func (b *Brain) Complete(area string, part float64, steps int, seed uint64) (float64, error) {
	a, err := b.area(area)
	if err != nil {
		return 0, err
	}
	if !(part >= 0 && part <= 1) {
		return 0, fmt.Errorf("assembly: the fraction of the winners is %g: want 0 to 1", part)
	}
	before := a.winners
	if len(before) == 0 {
		return 0, a.silent("completion in area " + area)
	}
	cue := int(part * float64(len(before)))
	if cue == 0 {
		return 0, fmt.Errorf("assembly: a fraction %g of the %d winners of area %s is less than one neuron, and completes nothing: want at least 1/%d", part, len(before), area, len(before))
	}
	src := newRandomStream(seed, purposeRecruit, 0)
	kept := make([]int32, cue)
	for i, k := range b.subset(&src, len(before), cue) {
		kept[i] = before[k]
	}
	a.set(kept)
	if _, err := b.phases(phase{steps, area + ">" + area}); err != nil {
		return 0, err
	}
	return Overlap(before, a.winners, a.K), nil
}

// Overlap returns the number of neurons that two sets share, divided by k, or NaN if either set is
// empty.
func Overlap(a, b []int32, k int) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	in := make(map[int32]bool, len(a))
	for _, x := range a {
		in[x] = true
	}
	n := 0
	for _, x := range b {
		if in[x] {
			n++
		}
	}
	return float64(n) / float64(k)
}
