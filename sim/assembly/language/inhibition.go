// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// reset inhibits all fibres and all areas except those that are open at first. The fibre of the
// lexicon onto itself stays closed for good.
func (m *sentenceState) reset() {
	m.inhibition = assembly.Inhibition{}
	for i, a := range m.Areas {
		if !slices.Contains(m.Open, a) {
			m.inhibition.Set(a, "", 0, true)
		}
		for _, b := range m.Areas[i:] {
			m.inhibition.Set(a, b, 0, true)
		}
	}
	m.inhibition.Set(lex, lex, -1, true)
}

// apply applies rules.
func (m *sentenceState) apply(rules []Rule) {
	for _, r := range rules {
		m.inhibition.Set(r.From, r.To, r.Index, !r.Free)
	}
}

// targets returns the areas that each area projects to now.
func (m *sentenceState) targets() targets {
	fires := map[string]bool{}
	for _, a := range m.Areas {
		w, _ := m.brain.Winners(a)
		fires[a] = len(w) > 0
	}
	out := targets{}
	for _, f := range m.inhibition.Fibres(m.Areas, func(a string) bool { return fires[a] }) {
		from, to, _ := strings.Cut(f, ">")
		out.add(from, to)
	}
	return out
}

// fibres writes targets as the fibres of a plan, in the order of the areas.
func (m *sentenceState) fibres(t targets) (list []string) {
	for _, from := range m.Areas {
		for _, to := range m.Areas {
			if slices.Contains(t[from], to) {
				list = append(list, from+">"+to)
			}
		}
	}
	return list
}

// project activates fibres for one step, whatever fires.
func (m *sentenceState) project(t targets) error {
	fibres := m.fibres(t)
	if len(fibres) == 0 {
		return nil
	}
	p, err := m.brain.Plan(fibres...)
	if err != nil {
		return err
	}
	_, err = m.brain.Continue(p, 1)
	return err
}

// targets says where areas project.
type targets map[string][]string

func (t targets) add(from, to string) {
	if !slices.Contains(t[from], to) {
		t[from] = append(t[from], to)
	}
}

// only returns the fibres for which wanted is true.
func (t targets) only(wanted func(from, to string) bool) targets {
	out := targets{}
	for from, list := range t {
		for _, to := range list {
			if wanted(from, to) {
				out.add(from, to)
			}
		}
	}
	return out
}
