// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Inhibition says which areas and fibres are open: those that no index inhibits. A fibre is
// inhibited in both directions. The zero value leaves everything open.
type Inhibition struct {
	// inhibiting indices by pair of names; for an area, the second name is empty
	by map[[2]string]map[int]bool
}

// Set adds an index that inhibits an area or, with a second name, the fibre between two areas; with
// on false it removes the index.
func (h *Inhibition) Set(area, other string, index int, on bool) {
	key := ends(area, other)
	if h.by == nil {
		h.by = map[[2]string]map[int]bool{}
	}
	if on && h.by[key] == nil {
		h.by[key] = map[int]bool{}
	}
	if on {
		h.by[key][index] = true
	} else if delete(h.by[key], index); len(h.by[key]) == 0 {
		delete(h.by, key)
	}
}

func ends(a, b string) [2]string {
	if b == "" {
		return [2]string{a, ""}
	}
	return [2]string{min(a, b), max(a, b)}
}

// Open reports whether an area is open.
func (h *Inhibition) Open(area string) bool { return h.by[ends(area, "")] == nil }

// Carries reports whether a fibre and both of its ends are open.
func (h *Inhibition) Carries(from, to string) bool {
	return len(h.by) == 0 || h.Open(from) && h.Open(to) && h.by[ends(from, to)] == nil
}

// Fibres lists the fibres to project, each as from>to, in the order of the areas. If the fibre
// between two areas carries, an area that fires projects to the other, and the other, if it fires,
// to itself.
func (h *Inhibition) Fibres(areas []string, fires func(area string) bool) (list []string) {
	seen := map[string]bool{}
	add := func(from, to string) {
		if f := from + ">" + to; fires(from) && !seen[f] {
			seen[f] = true
			list = append(list, f)
		}
	}
	for _, from := range areas {
		for _, to := range areas {
			if h.Carries(from, to) {
				add(from, to)
				add(to, to)
			}
		}
	}
	return list
}

func (h *Inhibition) clone() Inhibition {
	c := Inhibition{by: maps.Clone(h.by)}
	for k, s := range c.by {
		c.by[k] = maps.Clone(s)
	}
	return c
}

// Inhibit closes an area by an index: the area sends and receives nothing, whatever a plan says.
func (b *Brain) Inhibit(area string, index int) error { return b.inhibitArea(area, index, true) }

// Disinhibit removes an index. The area is open when no index is left.
func (b *Brain) Disinhibit(area string, index int) error { return b.inhibitArea(area, index, false) }

func (b *Brain) inhibitArea(area string, index int, on bool) error {
	_, err := b.area(area)
	if err == nil {
		b.closed.Set(area, "", index, on)
	}
	return err
}

// InhibitFibre closes, by an index, the fibres between two areas or between an area and a stimulus.
func (b *Brain) InhibitFibre(from, to string, index int) error {
	return b.inhibitFibre(from, to, index, true)
}

// DisinhibitFibre removes an index. The fibres are open when no index is left.
func (b *Brain) DisinhibitFibre(from, to string, index int) error {
	return b.inhibitFibre(from, to, index, false)
}

func (b *Brain) inhibitFibre(from, to string, index int, on bool) error {
	for _, name := range []string{from, to} {
		if !b.taken(name) {
			return fmt.Errorf("assembly: there is no area or stimulus %q whose fibre could be inhibited: add it first", name)
		}
	}
	b.closed.Set(from, to, index, on)
	return nil
}

// PlanOpen makes the plan of the given fibres from stimuli and of all fibres between areas that are
// open now, see Inhibition.Fibres.
func (b *Brain) PlanOpen(stimuli ...string) (*Plan, error) {
	fires := func(area string) bool {
		a, err := b.area(area)
		return err == nil && len(a.winners) > 0
	}
	list := strings.Fields(strings.Join(stimuli, " "))
	for _, f := range b.closed.Fibres(b.Areas(), fires) {
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return b.Plan(list...)
}
