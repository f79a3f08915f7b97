// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/tensor"
)

// OrderSettings are the settings of an OrderLearner. Zero values are the defaults.
type OrderSettings struct {
	Nouns, Verbs int      // numbers of nouns and verbs. Default 2 and 2.
	Orders       []string // order of subject S, object O and verb V in each mood. Default SVO alone.
	P            float64  // probability of a synapse. Default 0.05.
	WordK        int      // neurons in one word. Default 100.
	// neurons in one mood. Default WordK, or 12 times as many if there are several moods.
	MoodK      int
	K          int     // neurons that fire at a time in the other areas. Default 50.
	N          int     // neurons in each of the other areas. Default 20000.
	Beta       float64 // plasticity of all fibres. Default 0.06.
	RoleSteps  int     // steps in which a word enters its role, after the first two. Default 10.
	WordSteps  int     // steps per word of a sentence. Default 10, or 3 if there are several moods.
	LinkSteps  int     // number of these steps in which the previous word fires too. Default 3.
	SpeakSteps int     // number of RoleSteps used before a sentence is said. Default 3.
	Seed       uint64
}

// OrderLearner learns in which order subject, verb and object come, from sentences
// that it hears while it sees who does what to whom. Words are numbered: first the
// nouns, then the verbs.
//
// Each constituent has three areas: a role, which holds who does it, a helper, and a place in the
// syntax. While a word is heard they fire together, and the place of the word before fires into the
// helper; at the first word the mood does. To speak, the mood chooses the helper that it excites
// most, and then each place the next helper. Moods of other orders need places of their own: more
// neurons of a mood and fewer steps per word keep these apart (after 10 sentences per mood, 215 of
// 216 are said correctly with two moods, and 66 of 72 with all six orders).
//
// Reference: Mitropolsky and Papadimitriou, Simulated Language Acquisition in a
// Biologically Realistic Model of the Brain (2025), arXiv:2507.11788.
type OrderLearner struct {
	set   OrderSettings
	brain *assembly.Brain
	src   tensor.Stream
}

// constituent names the areas of a part of the sentence.
type constituent struct{ role, helper, place string }

var constituents = map[byte]constituent{
	'S': {"TPJ_agent", "TPJ_agent_helper", "SYNTAX_subject"},
	'O': {"TPJ_patient", "TPJ_patient_helper", "SYNTAX_object"},
	'V': {"TPJ_action", "TPJ_action_helper", "SYNTAX_verb"},
}

const (
	letters = "SOV" // the constituents, in the order in which their roles are filled
	mood    = "MOOD"
)

// purposeOrder is the random stream of sentences.
const purposeOrder uint32 = 512

// NewOrderLearner returns a learner that does not yet know any order.
func NewOrderLearner(s OrderSettings) (*OrderLearner, error) {
	s.fill()
	if err := s.check(); err != nil {
		return nil, err
	}
	l := &OrderLearner{set: s, src: tensor.NewStream(s.Seed, purposeOrder, 0),
		brain: assembly.New(assembly.Settings{P: s.P, Seed: s.Seed, EmptyIfSilent: true})}
	list := []assembly.Area{{Name: phon, N: (s.Nouns + s.Verbs) * s.WordK, K: s.WordK}, {Name: mood, N: len(s.Orders) * s.MoodK, K: s.MoodK}}
	for _, c := range letters {
		a := constituents[byte(c)]
		for _, name := range []string{a.role, a.helper, a.place} {
			list = append(list, assembly.Area{Name: name, N: s.N, K: s.K, Lazy: true})
		}
	}
	for _, a := range list {
		a.Beta = s.Beta
		if err := l.brain.AddArea(a); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (s *OrderSettings) fill() {
	if len(s.Orders) == 0 {
		s.Orders = []string{"SVO"}
	}
	moods, steps := 1, 10
	if len(s.Orders) > 1 {
		moods, steps = 12, 3
	}
	for p, v := range map[*int]int{&s.Nouns: 2, &s.Verbs: 2, &s.WordK: 100, &s.K: 50, &s.N: 20000,
		&s.RoleSteps: 10, &s.WordSteps: steps, &s.LinkSteps: 3, &s.SpeakSteps: 3} {
		if *p == 0 {
			*p = v
		}
	}
	for p, v := range map[*float64]float64{&s.P: 0.05, &s.Beta: 0.06} {
		if *p == 0 {
			*p = v
		}
	}
	if s.MoodK == 0 {
		s.MoodK = moods * s.WordK
	}
}

func (s *OrderSettings) check() error {
	for _, o := range s.Orders {
		b := []byte(o)
		slices.Sort(b)
		if string(b) != "OSV" {
			return fmt.Errorf("language: the word order is %q: want each of S, V and O once", o)
		}
	}
	switch {
	case min(s.Nouns, s.Verbs, s.RoleSteps, s.WordSteps, s.LinkSteps, s.SpeakSteps) < 0:
		return fmt.Errorf("language: the settings have %d nouns, %d verbs and steps %d, %d, %d, %d: want at least 0 of each",
			s.Nouns, s.Verbs, s.RoleSteps, s.WordSteps, s.LinkSteps, s.SpeakSteps)
	case !(s.P > 0 && s.P <= 1) || !(s.Beta > 0) || math.IsInf(s.Beta, 0):
		return fmt.Errorf("language: the probability of a synapse is %g and the plasticity %g: want both above 0, and the probability at most 1", s.P, s.Beta)
	}
	return nil
}

// Brain returns a copy of the brain, for inspection.
func (l *OrderLearner) Brain() *assembly.Brain { return l.brain.Clone() }

// Scene says who does what to whom, by the numbers of the words, and in which mood it is told.
type Scene struct{ Subject, Verb, Object, Mood int }

// AnyScene draws a scene at random. Subject and object differ if there are two or more nouns.
func (l *OrderLearner) AnyScene() Scene {
	draw := func(n int) int { return int(l.src.Float64() * float64(n)) }
	s := Scene{Subject: draw(l.set.Nouns), Verb: l.set.Nouns + draw(l.set.Verbs), Mood: draw(len(l.set.Orders))}
	if n := l.set.Nouns; n > 1 {
		s.Object = (s.Subject + 1 + draw(n-1)) % n
	}
	return s
}

func (l *OrderLearner) checkScene(s Scene) error {
	isNoun := func(w int) bool { return w >= 0 && w < l.set.Nouns }
	if !isNoun(s.Subject) || !isNoun(s.Object) || s.Verb < l.set.Nouns || s.Verb >= l.set.Nouns+l.set.Verbs || s.Mood < 0 || s.Mood >= len(l.set.Orders) {
		return fmt.Errorf("language: the scene is %+v: want a subject and an object from 0 to %d, a verb from %d to %d and a mood from 0 to %d",
			s, l.set.Nouns-1, l.set.Nouns, l.set.Nouns+l.set.Verbs-1, len(l.set.Orders)-1)
	}
	return nil
}

// word returns the word of a constituent.
func (s Scene) word(letter byte) int {
	return map[byte]int{'S': s.Subject, 'O': s.Object, 'V': s.Verb}[letter]
}

// Hear presents a scene together with its sentence, in the order of the scene's mood.
func (l *OrderLearner) Hear(s Scene) error {
	if err := l.checkScene(s); err != nil {
		return err
	}
	if err := l.see(l.brain, s, l.set.RoleSteps); err != nil {
		return err
	}
	order := l.set.Orders[s.Mood]
	for i := range order {
		if err := l.hearWord(s.word(order[i]), order, i); err != nil {
			return err
		}
	}
	return nil
}

// HearAny presents n random scenes with their sentences.
func (l *OrderLearner) HearAny(n int) error {
	for range n {
		if err := l.Hear(l.AnyScene()); err != nil {
			return err
		}
	}
	return nil
}

// see fills the roles of a scene and sets the mood.
func (l *OrderLearner) see(b *assembly.Brain, s Scene, steps int) error {
	if err := hold(b, mood, s.Mood); err != nil {
		return err
	}
	for i := range letters {
		c := constituents[letters[i]]
		if err := hold(b, phon, s.word(letters[i])); err != nil {
			return err
		}
		enter := []string{phon + ">" + c.role}
		if _, err := step(b, enter...); err != nil {
			return err
		}
		enter = append(enter, c.role+">"+c.helper, c.role+">"+c.role)
		for t := range 1 + steps {
			if t == 1 {
				enter = append(enter, c.helper+">"+c.role, c.helper+">"+c.helper)
			}
			if _, err := step(b, enter...); err != nil {
				return err
			}
		}
	}
	return nil
}

// hearWord presents the i-th word of an order.
func (l *OrderLearner) hearWord(word int, order string, i int) error {
	c := constituents[order[i]]
	if err := hold(l.brain, phon, word); err != nil {
		return err
	}
	always := []string{phon + ">" + c.role, c.role + ">" + c.helper, c.role + ">" + c.role,
		c.helper + ">" + c.helper, c.helper + ">" + c.role, c.helper + ">" + c.place, mood + ">" + c.place}
	if i == 0 {
		always = append(always, mood+">"+c.helper)
	}
	for t := range l.set.WordSteps {
		now := slices.Clone(always)
		if t > 0 {
			now = append(now, c.place+">"+c.place)
		}
		if i > 0 && t < l.set.LinkSteps {
			now = append(now, constituents[order[i-1]].place+">"+c.helper)
		}
		if _, err := step(l.brain, now...); err != nil {
			return err
		}
	}
	return nil
}
