// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// senses returns the area of a word's meaning, its block in that area, and its lexical area.
func (l *Learner) senses(word int) (area string, block int, lexical string) {
	if l.isNoun(word) {
		return visual, word, noun
	}
	return motor, word - l.set.Nouns, verb
}

// sense makes the meaning of a word fire.
func (l *Learner) sense(b *assembly.Brain, word int) error {
	area, block, _ := l.senses(word)
	return hold(b, area, block)
}

// hold makes a block of an area fire until it is released.
func hold(b *assembly.Brain, area string, block int) error {
	if err := b.Activate(area, block); err != nil {
		return err
	}
	return b.Fix(area, true)
}

// forgetSenses silences all areas but the sounds and the lexical areas.
func (l *Learner) forgetSenses() error {
	for _, a := range append(l.contexts(), visual, motor) {
		if err := l.brain.SetWinners(a, nil); err != nil {
			return err
		}
	}
	return nil
}

// say makes the sound of a word fire into the lexical areas, and makes these fire back. With rivals,
// the area with less input falls silent after the first step.
func (l *Learner) say(word int, rivals bool) error {
	if err := hold(l.brain, phon, word); err != nil {
		return err
	}
	firing := l.firing()
	first := firing[noun]
	first = append(first, firing[verb]...)
	rounds, err := step(l.brain, first...)
	if err != nil {
		return err
	}
	then := first
	back := map[string][]string{}
	for lexical, sense := range map[string]string{noun: visual, verb: motor} {
		back[lexical] = []string{lexical + ">" + phon, lexical + ">" + lexical}
		if l.fires(sense) {
			back[lexical] = append(back[lexical], lexical+">"+sense)
		}
	}
	keep := []string{noun, verb}
	if rivals {
		then = firing[stronger(rounds, noun, verb)]
		keep = []string{stronger(rounds, noun, verb)}
	}
	for _, k := range keep {
		then = append(then, back[k]...)
	}
	for range l.set.Rounds {
		if _, err := step(l.brain, then...); err != nil {
			return err
		}
	}
	return nil
}

// firing returns, for each lexical area, the fibres into it from everything that fires.
func (l *Learner) firing() map[string][]string {
	out := map[string][]string{}
	for lexical, sense := range map[string]string{noun: visual, verb: motor} {
		for _, a := range append([]string{phon, sense}, l.contexts()...) {
			if l.fires(a) {
				out[lexical] = append(out[lexical], a+">"+lexical)
			}
		}
	}
	return out
}

func (l *Learner) fires(area string) bool {
	w, _ := l.brain.Winners(area)
	return len(w) > 0
}

// step projects fibres once.
func step(b *assembly.Brain, fibres ...string) ([]assembly.Round, error) {
	p, err := b.Plan(fibres...)
	if err != nil {
		return nil, err
	}
	trace, err := b.Project(p, 1)
	if err != nil {
		return nil, err
	}
	return trace[0], nil
}

// stronger returns the area that got more input.
func stronger(rounds []assembly.Round, a, b string) string {
	x := map[string]float64{}
	for _, r := range rounds {
		x[r.Area] = r.Input
	}
	if x[a] > x[b] {
		return a
	}
	return b
}

// addContexts adds the context areas and assigns them to words.
func (l *Learner) addContexts() error {
	s := l.set
	blocks := l.Words()
	switch s.Context {
	case SharedContext:
		if s.ContextAreas < 1 {
			return fmt.Errorf("language: there are %d areas of contexts: want at least 1", s.ContextAreas)
		}
		for range l.Words() {
			l.contextOf = append(l.contextOf, l.draw(s.ContextAreas))
		}
	case OwnContext:
		blocks = 1
		for w := range l.Words() {
			l.contextOf = append(l.contextOf, w)
		}
	}
	for _, name := range l.contexts() {
		a := assembly.Area{Name: name, N: blocks * s.ContextK, K: s.ContextK, Beta: s.Beta}
		if err := l.brain.AddArea(a); err != nil {
			return err
		}
	}
	return nil
}

// contexts returns the names of the context areas.
func (l *Learner) contexts() []string {
	n := 0
	switch l.set.Context {
	case RandomContext, SharedContext:
		n = l.set.ContextAreas
	case OwnContext:
		n = l.Words()
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("CONTEXT_%d", i)
	}
	return names
}

// fireContexts makes the contexts of a sentence fire.
func (l *Learner) fireContexts(nounWord, verbWord int) error {
	if l.set.Context == NoContext || l.sentences < l.set.ContextAfter {
		return nil
	}
	either := func() int { return []int{nounWord, verbWord}[l.draw(2)] }
	block := map[int]int{} // by area
	switch l.set.Context {
	case RandomContext:
		for i := range l.contexts() {
			block[i] = either()
		}
	case SharedContext:
		block[l.contextOf[nounWord]], block[l.contextOf[verbWord]] = nounWord, verbWord
		if l.contextOf[nounWord] == l.contextOf[verbWord] {
			block[l.contextOf[nounWord]] = either()
		}
	case OwnContext:
		block[l.contextOf[nounWord]], block[l.contextOf[verbWord]] = 0, 0
	}
	for i, name := range l.contexts() {
		if b, ok := block[i]; ok {
			if err := hold(l.brain, name, b); err != nil {
				return err
			}
		}
	}
	return nil
}
