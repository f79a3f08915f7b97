// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"context"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/tensor"
)

// Context says which further areas fire, besides the sight of a noun and the movement of a verb,
// while a [Learner] hears a sentence. They feed both lexical areas.
type Context int

const (
	NoContext     Context = iota
	RandomContext         // context of areas that fire for the noun or the verb, by chance (model A)
	SharedContext         // context of one of the areas for each word; two words may share it (model B)
	OwnContext            // context of an area of its own for each word (model C)
)

// LearnerSettings are the settings of a Learner. Zero values are the defaults.
type LearnerSettings struct {
	Nouns, Verbs int     // numbers of nouns and verbs. Default 2 and 2.
	P            float64 // probability of a synapse. Default 0.05.
	SoundK       int     // neurons in the sound of one word. Default 100.
	SenseK       int     // neurons in the meaning of one word, seen or moved. Default 100.
	LexK         int     // neurons that fire at a time in a lexical area. Default 50.
	LexN         int     // neurons in a lexical area. Default 100000.
	Beta         float64 // plasticity of all fibres. Default 0.06.
	Rounds       int     // steps per word after the first. Default 2.
	Context      Context // kind of context. Default NoContext.
	ContextAreas int     // number of areas of RandomContext and SharedContext. Default 2.
	ContextK     int     // neurons in one context. Default 10.
	ContextAfter int     // number of sentences heard before contexts fire. Default 0.
	// VerbFirst makes sentences begin with the verb.
	VerbFirst  bool
	MinOverlap float64 // fraction of a block that must fire for its word to be said. Default 0.75.
	Seed       uint64
}

// Learner learns nouns and verbs from sentences of two words, each heard while its
// meaning is seen or done. Words are numbered: first the nouns, then the verbs.
//
// The areas PHON (sounds), VISUAL (what nouns show) and MOTOR (what verbs do) have a
// block of neurons per word; in NOUN and VERB assemblies form. No rule says which word
// is a noun: the area whose context comes with the word wins.
//
// Reference: Mitropolsky and Papadimitriou, The Architecture of a Biologically
// Plausible Language Organ (2023), arXiv:2306.15364.
type Learner struct {
	set       LearnerSettings
	brain     *assembly.Brain
	src       tensor.Stream
	sentences int
	contextOf []int // context area of each word
}

// The areas of a Learner.
const (
	phon   = "PHON"
	visual = "VISUAL"
	motor  = "MOTOR"
	noun   = "NOUN"
)

// purposeLearner is the random stream of sentences.
const purposeLearner uint32 = 511

// NewLearner returns a learner that knows nothing.
func NewLearner(s LearnerSettings) (*Learner, error) {
	s.fill()
	if err := s.check(); err != nil {
		return nil, err
	}
	l := &Learner{set: s, src: tensor.NewStream(s.Seed, purposeLearner, 0),
		brain: assembly.New(assembly.Settings{P: s.P, Seed: s.Seed, EmptyIfSilent: true})}
	for _, a := range []assembly.Area{
		{Name: phon, N: l.Words() * s.SoundK, K: s.SoundK},
		{Name: motor, N: s.Verbs * s.SenseK, K: s.SenseK},
		{Name: visual, N: s.Nouns * s.SenseK, K: s.SenseK},
		{Name: noun, N: s.LexN, K: s.LexK, Lazy: true},
		{Name: verb, N: s.LexN, K: s.LexK, Lazy: true},
	} {
		a.Beta = s.Beta
		if err := l.brain.AddArea(a); err != nil {
			return nil, err
		}
	}
	return l, l.addContexts()
}

func (s *LearnerSettings) fill() {
	for p, v := range map[*int]int{&s.Nouns: 2, &s.Verbs: 2, &s.SoundK: 100, &s.SenseK: 100, &s.LexK: 50, &s.LexN: 100000,
		&s.Rounds: 2, &s.ContextAreas: 2, &s.ContextK: 10} {
		if *p == 0 {
			*p = v
		}
	}
	for p, v := range map[*float64]float64{&s.P: 0.05, &s.Beta: 0.06, &s.MinOverlap: 0.75} {
		if *p == 0 {
			*p = v
		}
	}
}

func (s *LearnerSettings) check() error {
	switch {
	case s.Nouns < 0 || s.Verbs < 0 || s.Rounds < 0 || s.ContextAreas < 0 || s.ContextAfter < 0:
		return fmt.Errorf("language: the settings have %d nouns, %d verbs, %d rounds and %d areas of contexts after %d sentences: want at least 0 of each", s.Nouns, s.Verbs, s.Rounds, s.ContextAreas, s.ContextAfter)
	case !(s.P > 0 && s.P <= 1) || !(s.Beta > 0) || math.IsInf(s.Beta, 0):
		return fmt.Errorf("language: the probability of a synapse is %g and the plasticity %g: want both above 0, and the probability at most 1", s.P, s.Beta)
	case !(s.MinOverlap > 0 && s.MinOverlap <= 1):
		return fmt.Errorf("language: a word is said if a fraction %g of its block fires: want MinOverlap above 0 and at most 1", s.MinOverlap)
	case s.Context < NoContext || s.Context > OwnContext:
		return fmt.Errorf("language: the context model is %d: want %d to %d", s.Context, NoContext, OwnContext)
	}
	return nil
}

// Words returns how many words there are: the nouns, then the verbs.
func (l *Learner) Words() int { return l.set.Nouns + l.set.Verbs }

// Sentences returns the number of sentences heard so far.
func (l *Learner) Sentences() int { return l.sentences }

// Brain returns a copy of the brain, for inspection.
func (l *Learner) Brain() *assembly.Brain { return l.brain.Clone() }

// draw returns a random number below n.
func (l *Learner) draw(n int) int { return int(l.src.Float64() * float64(n)) }

// isNoun reports whether a word, by its number, is a noun.
func (l *Learner) isNoun(word int) bool { return word < l.set.Nouns }

// Hear presents a sentence of a noun and a verb, given by their numbers, together with the meanings
// of both.
func (l *Learner) Hear(nounWord, verbWord int) error {
	if nounWord < 0 || !l.isNoun(nounWord) || verbWord < l.set.Nouns || verbWord >= l.Words() {
		return fmt.Errorf("language: the words %d and %d are not a sentence: want a noun, 0 to %d, and a verb, %d to %d",
			nounWord, verbWord, l.set.Nouns-1, l.set.Nouns, l.Words()-1)
	}
	if err := l.sense(l.brain, nounWord); err != nil {
		return err
	}
	if err := l.sense(l.brain, verbWord); err != nil {
		return err
	}
	if err := l.fireContexts(nounWord, verbWord); err != nil {
		return err
	}
	words := []int{nounWord, verbWord}
	if l.set.VerbFirst {
		words = []int{verbWord, nounWord}
	}
	for _, w := range words {
		if err := l.say(w, false); err != nil {
			return err
		}
	}
	l.sentences++
	return l.forgetSenses()
}

// HearAny presents a sentence of a noun and a verb drawn at random.
func (l *Learner) HearAny() error {
	return l.Hear(l.draw(l.set.Nouns), l.set.Nouns+l.draw(l.set.Verbs))
}

// HearAll presents every sentence of a noun and a verb, rounds times.
func (l *Learner) HearAll(rounds int) error {
	for range rounds {
		for n := range l.set.Nouns {
			for v := range l.set.Verbs {
				if err := l.Hear(n, l.set.Nouns+v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Tutor presents a single word together with its meaning: the lexical area with the smaller input
// falls silent after the first step.
func (l *Learner) Tutor(word int) error {
	if err := l.checkWord(word); err != nil {
		return err
	}
	if err := l.sense(l.brain, word); err != nil {
		return err
	}
	if err := l.say(word, true); err != nil {
		return err
	}
	return l.forgetSenses()
}

func (l *Learner) checkWord(word int) error {
	if word < 0 || word >= l.Words() {
		return fmt.Errorf("language: there is no word %d: want 0 to %d", word, l.Words()-1)
	}
	return nil
}

// Outcome is the result of a learner's lesson.
type Outcome struct {
	// Learnt reports whether the learner says every word correctly.
	Learnt    bool
	Sentences int // number of two-word sentences heard
	Tutored   int // number of single words heard
}

// Words returns how many words were heard.
func (o Outcome) Words() int { return 2*o.Sentences + o.Tutored }

// Learn presents random sentences, and every tutor-th time (never if 0) a random single word
// instead, until the learner says all words correctly or has heard most of them.
func (l *Learner) Learn(ctx context.Context, tutor, most int) (o Outcome, err error) {
	for i := 1; i <= most; i++ {
		if err := ctx.Err(); err != nil {
			return o, err
		}
		if tutor > 0 && i%tutor == 0 {
			err = l.Tutor(l.draw(l.Words()))
			o.Tutored++
		} else {
			err = l.HearAny()
			o.Sentences++
		}
		if err != nil {
			return o, err
		}
		if o.Learnt, err = l.Knows(); err != nil || o.Learnt {
			return o, err
		}
	}
	return o, nil
}
