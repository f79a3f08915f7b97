// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// Settings are the settings of a run. Zero values are the defaults.
type Settings struct {
	// Progress is called after every step of the brain, unless it is nil.
	Progress func(Progress)
	// Save stores the snapshots that the script asks for, unless it is nil.
	Save func(name string, b *assembly.Brain) error
	// Profile makes a run measure its steps, except those of branches.
	Profile bool
}

// Progress says how far a run has come.
type Progress struct {
	Done, Total int    // steps of the brain done and in total, including those of branches
	Step        string // step of the script: name and place
}

// Result is the outcome of a run.
type Result struct {
	Mode     string // simulation mode of the areas, see Script
	Seed     uint64
	Rounds   []Round
	Measures []Measure
	Warnings []Mistake // warnings about steps that were carried out but had no effect
}

// Round is the effect of one step on one area. It holds winners if the script asks for them.
type Round struct {
	Step int // number of the brain's step, from 1
	Line int // line of the script
	assembly.Round
	Fired int // number of winners
}

// Measure is a number that the script asked for.
type Measure struct {
	Name     string
	Quantity string // measured quantity: overlap, density, weight, support, active or block
	Step     int    // number of the brain's last step; in a branch, the step at which the branch begins
	Value    float64
	Line     int
	// Branch reports whether the number was measured in a branch, on a copy.
	Branch bool
}

// Run is a script that is being carried out.
type Run struct {
	script *Script
	opts   Settings
	top    machine
	result Result
	done   int // number of the brain's steps done, for Progress
	forked *fork
}

// fork is the state before a branch.
type fork struct {
	measures []Measure
	done     int
}

// machine carries out instructions on a brain.
type machine struct {
	run    *Run
	brain  *assembly.Brain
	memory map[string]memo
	seed   uint64
	step   int // number of the brain's steps so far
	pc     int // index of the current instruction
	within int // number of its rounds that are done
	branch bool
}

// memo is an assembly that is remembered.
type memo struct {
	Area    string
	Winners []int32
}

// Start makes the brain of a script, if it fits in memory, and returns a run at the first step.
func (s *Script) Start(o Settings) (*Run, error) {
	if err := s.Fits(); err != nil {
		return nil, err
	}
	b, err := s.Brain()
	if err != nil {
		return nil, fmt.Errorf("script: %s: %w", s.File, err)
	}
	return s.runOf(b, o), nil
}

func (s *Script) runOf(b *assembly.Brain, o Settings) *Run {
	r := &Run{script: s, opts: o, result: Result{Mode: s.Mode, Seed: s.Settings.Seed}}
	r.top = machine{run: r, brain: b, memory: map[string]memo{}, seed: s.Settings.Seed}
	if o.Profile {
		b.Profile()
	}
	return r
}

// Run carries out a script from its beginning.
func (s *Script) Run(ctx context.Context, o Settings) (*Result, error) {
	r, err := s.Start(o)
	if err != nil {
		return nil, err
	}
	return r.Go(ctx)
}

// Go carries on to the end of the script. When ctx ends, it returns the result so far and the error
// of ctx; Go or Save may follow.
func (r *Run) Go(ctx context.Context) (*Result, error) {
	err := r.top.carryOut(ctx, r.script.program)
	return &r.result, err
}

// Brain returns the brain as it is now.
func (r *Run) Brain() *assembly.Brain { return r.top.brain }

// Result returns the result so far.
func (r *Run) Result() *Result { return &r.result }

// Done reports whether the run has come to the end of the script.
func (r *Run) Done() bool { return r.top.pc == len(r.script.program) }

// At returns the place in the script that the run has reached.
func (r *Run) At() string {
	if r.Done() {
		return fmt.Sprintf("the end of the script, after %d steps", r.top.step)
	}
	return fmt.Sprintf("step %d of %d, %v", r.done, r.script.Rounds, r.script.program[r.top.pc])
}

func (m *machine) carryOut(ctx context.Context, program []instruction) error {
	for ; m.pc < len(program); m.pc++ {
		i := program[m.pc]
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		switch {
		case i.rounds > 0:
			err = m.project(ctx, i)
		case i.do != nil:
			err = i.do(m)
		default:
			err = m.fork(ctx, i)
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("script: %s:%d:%d: %s: %w", m.run.script.File, i.line, i.column, i.name, err)
		}
	}
	return nil
}

// project runs the remaining steps of an instruction. Before the first, it checks that the sources
// fire.
func (m *machine) project(ctx context.Context, i instruction) error {
	p, err := m.brain.Plan(i.fibres)
	if err != nil {
		return err
	}
	step := m.brain.Continue
	if m.within == 0 {
		step = m.brain.Project
		if err := m.open(p, i); err != nil {
			return err
		}
	}
	for m.within < i.rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		trace, err := step(p, 1)
		if err != nil {
			return err
		}
		step = m.brain.Continue
		m.within++
		m.step++
		m.record(i, trace[0])
	}
	m.within = 0
	return nil
}

// open returns an error for operations whose fibres are inhibited, and warns of steps that project
// nothing for that reason.
func (m *machine) open(p *assembly.Plan, i instruction) error {
	closed := p.Closed()
	switch {
	case len(closed) > 0 && i.name != "project":
		return fmt.Errorf("it needs the fibres %s, but they or their areas are inhibited: disinhibit them first", strings.Join(closed, " "))
	case !p.Open():
		m.warn(i, fmt.Sprintf("%s: the fibres %s or their areas are inhibited, so nothing happens", i.name, strings.Join(closed, " ")))
	}
	return nil
}

// warn records a warning, once for each place of the script.
func (m *machine) warn(i instruction, what string) {
	r := &m.run.result
	if w := (Mistake{i.line, i.column, what}); !slices.Contains(r.Warnings, w) {
		r.Warnings = append(r.Warnings, w)
	}
}

func (m *machine) record(i instruction, rounds []assembly.Round) {
	r := m.run
	if r.done++; !m.branch {
		for _, x := range rounds {
			fired := len(x.Winners)
			if !r.script.Winners[x.Area] {
				x.Winners = nil
			}
			r.result.Rounds = append(r.result.Rounds, Round{m.step, i.line, x, fired})
		}
	}
	if r.opts.Progress != nil {
		r.opts.Progress(Progress{r.done, r.script.Rounds, i.String()})
	}
}

// fork carries out a branch on a copy. An interrupted branch leaves no trace.
func (m *machine) fork(ctx context.Context, i instruction) error {
	r := m.run
	before := &fork{slices.Clone(r.result.Measures), r.done}
	if !m.branch {
		r.forked = before
		defer func() { r.forked = nil }()
	}
	b := *m
	b.brain, b.memory, b.branch = m.brain.Clone(), maps.Clone(m.memory), true
	b.seed, b.pc, b.within = m.seed+uint64(m.pc)<<32, 0, 0
	err := b.carryOut(ctx, i.branch)
	if err != nil {
		r.result.Measures, r.done = before.measures, before.done
	}
	return err
}

// remember keeps the winners of an area. An empty set is an error, unless it can be an outcome.
func (m *machine) remember(name, area string) error {
	w, err := m.brain.Firing(area)
	m.memory[name] = memo{area, w}
	return err
}

// measure records a number. In a branch, its step is the one at which the branch begins.
func (m *machine) measure(name, quantity string, s *step, v float64) {
	x := Measure{Name: name, Quantity: quantity, Step: m.step, Value: v, Line: s.node.Line, Branch: m.branch}
	if m.branch {
		x.Step = m.run.top.step
	}
	m.run.result.Measures = append(m.run.result.Measures, x)
}

func (m *machine) saveAs(name string) error {
	if m.run.opts.Save == nil {
		return nil
	}
	return m.run.opts.Save(name, m.brain)
}
