// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import "github.com/euryale-dev/euryale/sim/assembly"

// Questions to a learner. They are asked of a copy of its brain, without plasticity:
// asking changes nothing.

// NoWord is said if no word's sound fires.
const NoWord = -1

// Say presents the meaning of a word and returns the word that is said, or NoWord if no sound is
// complete. Property P of the reference holds if it is the same word.
func (l *Learner) Say(word int) (int, error) {
	if err := l.checkWord(word); err != nil {
		return NoWord, err
	}
	b := l.quiz()
	if err := l.sense(b, word); err != nil {
		return NoWord, err
	}
	sense, _, lexical := l.senses(word)
	if _, err := step(b, sense+">"+lexical); err != nil {
		return NoWord, err
	}
	if _, err := step(b, lexical+">"+phon); err != nil {
		return NoWord, err
	}
	w, err := b.Winners(phon)
	return block(w, l.set.SoundK, l.Words(), l.set.MinOverlap), err
}

// Knows reports whether the learner says all words correctly.
func (l *Learner) Knows() (bool, error) {
	for w := range l.Words() {
		if said, err := l.Say(w); err != nil || said != w {
			return false, err
		}
	}
	return true, nil
}

// Recognition is the response of the lexical areas to the sound of a word.
type Recognition struct {
	NounInput, VerbInput   float64 // summed input of the winners of each area
	NounStable, VerbStable float64 // fraction of the winners that one step of the area's own fibre keeps
}

// Recognise makes the sound of a word fire. Property Q of the reference holds if the area of the
// word's kind gets more input and is more stable; see [Recognition.Noun].
func (l *Learner) Recognise(word int) (r Recognition, err error) {
	if err := l.checkWord(word); err != nil {
		return r, err
	}
	b := l.quiz()
	if err := hold(b, phon, word); err != nil {
		return r, err
	}
	rounds, err := step(b, phon+">"+noun, phon+">"+verb)
	if err != nil {
		return r, err
	}
	own, err := step(b, noun+">"+noun, verb+">"+verb)
	if err != nil {
		return r, err
	}
	for i, x := range rounds {
		same := assembly.Overlap(x.Winners, own[i].Winners, l.set.LexK)
		if x.Area == noun {
			r.NounInput, r.NounStable = x.Input, same
		} else {
			r.VerbInput, r.VerbStable = x.Input, same
		}
	}
	return r, nil
}

// Noun reports whether the word is a noun: its area gets more input and is at least as stable.
// Neither Noun nor Verb holds for a word that is not known.
func (r Recognition) Noun() bool { return r.NounInput > r.VerbInput && r.NounStable >= r.VerbStable }

// Verb reports whether the word is a verb; see Noun.
func (r Recognition) Verb() bool { return r.VerbInput > r.NounInput && r.VerbStable >= r.NounStable }

// quiz returns a copy of the brain with plasticity off, in which no sound or meaning fires.
func (l *Learner) quiz() *assembly.Brain {
	b := l.brain.Clone()
	b.Learn(false)
	b.Fix(phon, false)
	return b
}

// block returns the first of n blocks of k neurons of which at least the given fraction fires, or
// NoWord if there is none.
func block(winners []int32, k, n int, part float64) int {
	counts := make([]int, n)
	for _, i := range winners {
		counts[int(i)/k]++
	}
	for i, c := range counts {
		if float64(c) >= part*float64(k) {
			return i
		}
	}
	return NoWord
}
