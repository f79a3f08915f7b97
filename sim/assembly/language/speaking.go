// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import "github.com/euryale-dev/euryale/sim/assembly"

// Say presents a scene and returns the order in which its constituents are said. Before any sentence
// of its mood was heard, the order is a matter of chance. Say works on a copy of the brain without
// plasticity, so it changes nothing.
func (l *OrderLearner) Say(s Scene) (string, error) {
	if err := l.checkScene(s); err != nil {
		return "", err
	}
	b := l.brain.Clone()
	b.Learn(false)
	if err := l.see(b, s, l.set.SpeakSteps); err != nil {
		return "", err
	}
	now, err := l.choose(b, mood, letters)
	if err != nil {
		return "", err
	}
	c := constituents[now]
	if _, err := step(b, mood+">"+c.helper); err != nil {
		return "", err
	}
	said := []byte{now}
	for len(said) < len(letters) {
		if now, err = l.next(b, now); err != nil {
			return "", err
		}
		said = append(said, now)
	}
	return string(said), nil
}

// next returns the constituent that the place of the current one excites most.
func (l *OrderLearner) next(b *assembly.Brain, now byte) (byte, error) {
	c := constituents[now]
	if _, err := step(b, c.helper+">"+c.place, mood+">"+c.place); err != nil {
		return 0, err
	}
	others, fibres := []byte{}, []string{}
	for i := range letters {
		d := constituents[letters[i]]
		fibres = append(fibres, d.role+">"+d.helper)
		if letters[i] != now {
			others = append(others, letters[i])
			fibres = append(fibres, c.place+">"+d.helper)
		}
	}
	if _, err := step(b, fibres...); err != nil {
		return 0, err
	}
	return l.choose(b, c.place, string(others))
}

// choose returns the constituent whose helper an area excites most.
func (l *OrderLearner) choose(b *assembly.Brain, from, among string) (best byte, err error) {
	most := -1.0
	for i := range among {
		x, err := excitation(b, from, constituents[among[i]].helper)
		if err != nil {
			return 0, err
		}
		if x > most {
			best, most = among[i], x
		}
	}
	return best, nil
}

// excitation sums the weights from the firing neurons of one area to those of another.
func excitation(b *assembly.Brain, from, to string) (sum float64, err error) {
	sources, err := b.Winners(from)
	if err != nil {
		return 0, err
	}
	targets, err := b.Winners(to)
	if err != nil {
		return 0, err
	}
	for _, i := range sources {
		for _, j := range targets {
			w, err := b.Weight(from, to, int(i), int(j))
			if err != nil {
				return 0, err
			}
			sum += w
		}
	}
	return sum, nil
}
