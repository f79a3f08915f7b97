package assembly

import (
	"fmt"
	"slices"
)

// Areas and fibres are open unless they are inhibited, by any number of indices. A
// closed area, or fibre in either direction, carries nothing in a step.

// indices are those by which something is inhibited.
type indices map[int]bool

func (s indices) set(index int, on bool) {
	if on {
		s[index] = true
	} else {
		delete(s, index)
	}
}

// Inhibit closes an area by an index.
func (b *Brain) Inhibit(area string, index int) error { return b.inhibitArea(area, index, true) }

// Disinhibit takes an index away. The area is open when none is left.
func (b *Brain) Disinhibit(area string, index int) error { return b.inhibitArea(area, index, false) }

func (b *Brain) inhibitArea(area string, index int, on bool) error {
	a, err := b.area(area)
	if err == nil {
		a.closed.set(index, on)
	}
	return err
}

// InhibitFibre closes the fibres between two areas, or an area and a stimulus, by an
// index.
func (b *Brain) InhibitFibre(from, to string, index int) error {
	return b.inhibitFibre(from, to, index, true)
}

// DisinhibitFibre takes an index away. The fibres are open when none is left.
func (b *Brain) DisinhibitFibre(from, to string, index int) error {
	return b.inhibitFibre(from, to, index, false)
}

func (b *Brain) inhibitFibre(from, to string, index int, on bool) error {
	for _, name := range []string{from, to} {
		if !b.taken(name) {
			return fmt.Errorf("assembly: no area or stimulus %q to inhibit a fibre of", name)
		}
	}
	key := ends(from, to)
	if b.closed[key] == nil {
		b.closed[key] = indices{}
	}
	b.closed[key].set(index, on)
	return nil
}

func ends(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// open reports whether a fibre carries.
func (b *Brain) open(f *fibre) bool {
	return len(f.target.closed) == 0 && (f.from == nil || len(f.from.closed) == 0) && len(b.closed[ends(f.From, f.To)]) == 0
}

// PlanOpen makes the plan of what is open now: where areas that fire and their fibre
// to another are open, the one projects to the other, and areas that fire and have an
// open fibre with another project to themselves.
// Fibres from stimuli are given.
func (b *Brain) PlanOpen(stimuli ...string) (*Plan, error) {
	fibres := slices.Clone(stimuli)
	add := func(from, to string) {
		if f := from + ">" + to; !slices.Contains(fibres, f) {
			fibres = append(fibres, f)
		}
	}
	for _, from := range b.areas {
		for _, to := range b.areas {
			if len(from.closed) > 0 || len(to.closed) > 0 || len(b.closed[ends(from.Name, to.Name)]) > 0 {
				continue
			}
			if len(from.winners) > 0 {
				add(from.Name, to.Name)
			}
			if len(to.winners) > 0 {
				add(to.Name, to.Name)
			}
		}
	}
	return b.Plan(fibres...)
}
