// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SilentError says that an operation needs an area or a stimulus to fire that does not fire, and
// that nothing in the plan makes fire. The result would be meaningless but look like a number.
type SilentError struct {
	Name string // name of the area or stimulus
	For  string // operation or fibre that needs it to fire, such as the fibre A>B
	Why  string // reason why it does not fire
	Try  string // remedy to try
}

var _ error = (*SilentError)(nil)

func (e *SilentError) Error() string {
	return fmt.Sprintf("assembly: %s: %s: %s", e.For, e.Why, e.Try)
}

// silent makes the error of an area that does not fire.
func (a *area) silent(need string) error {
	why := fmt.Sprintf("area %s does not fire now; %d of its neurons have before", a.Name, a.support)
	if a.support == 0 {
		why = "area " + a.Name + " does not fire, and never has"
	}
	return &SilentError{a.Name, need, why, "project into it first what fires, or set its winners"}
}

// Firing returns the neurons of an area that fire, as Winners does. It returns a *SilentError if
// there are none, unless silence can be an outcome: in an area that has fired before, and that fires
// from a threshold or has rivals.
func (b *Brain) Firing(name string) ([]int32, error) {
	a, err := b.area(name)
	if err != nil {
		return nil, err
	}
	if err := b.silence(a, "winners of area "+name); err != nil {
		return nil, err
	}
	return slices.Clone(a.winners), nil
}

// silence returns a *SilentError for an area that does not fire, unless that can be an outcome.
func (b *Brain) silence(a *area, need string) error {
	rival := slices.ContainsFunc(b.rivals, func(group []string) bool { return slices.Contains(group, a.Name) })
	if len(a.winners) > 0 || a.support > 0 && (a.Policy == AtThreshold || rival) {
		return nil
	}
	return a.silent(need)
}

// check returns errors for areas that do not fire and will not in this plan, and for targets that
// nothing reaches. It ignores inhibited fibres, which are meant to carry nothing.
func (p *Plan) check() error {
	p.open(p.brain)
	reached := p.reached()
	var list []error
	silent := map[*area][]string{} // fibres that need them
	for _, t := range p.targets {
		var empty *fibre // a fibre from a stimulus without neurons
		live := false
		for _, f := range t.active {
			switch {
			case f.firing() > 0 || reached[f.from]:
				live = true
			case f.stimulus != nil:
				empty = f
			default:
				silent[f.from] = append(silent[f.from], f.From+">"+f.To)
			}
		}
		switch {
		case empty != nil && !live:
			list = append(list, &SilentError{empty.From, "fibre " + empty.From + ">" + t.Name,
				"stimulus " + empty.From + " has no neurons, and nothing else fires into area " + t.Name, "make it larger"})
		case live && t.fixed && len(t.winners) == 0:
			list = append(list, &SilentError{t.Name, "projection into area " + t.Name,
				"the area is fixed while it does not fire, and stays silent", "free it, or set its winners"})
		}
	}
	for _, a := range p.brain.areas {
		if f := silent[a]; f != nil {
			list = append(list, p.brain.silence(a, "fibre "+strings.Join(f, " ")))
		}
	}
	return errors.Join(list...)
}

// reached returns the targets of the plan that will fire, given what fires now.
func (p *Plan) reached() map[*area]bool {
	reached := map[*area]bool{}
	for more := true; more; {
		more = false
		for _, t := range p.targets {
			if t.fixed || reached[t.area] {
				continue
			}
			if slices.ContainsFunc(t.active, func(f *fibre) bool { return f.firing() > 0 || reached[f.from] }) {
				reached[t.area], more = true, true
			}
		}
	}
	return reached
}

// Closed lists the fibres of a plan, each as from>to, that inhibition closes now.
func (p *Plan) Closed() (fibres []string) {
	for _, t := range p.targets {
		for _, f := range t.fibres {
			if !p.brain.closed.Carries(f.From, f.To) {
				fibres = append(fibres, f.From+">"+f.To)
			}
		}
	}
	return fibres
}

// Open reports whether any fibre of a plan is open; if none is, its steps do nothing.
func (p *Plan) Open() bool {
	n := 0
	for _, t := range p.targets {
		n += len(t.fibres)
	}
	return len(p.Closed()) < n
}
