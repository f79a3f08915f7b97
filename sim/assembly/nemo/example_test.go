// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo_test

import (
	"fmt"

	"github.com/euryale-dev/euryale/sim/assembly/nemo"
)

// A sequence is recalled from its first item after some presentations.
func ExampleSequence() {
	s, err := nemo.RandomSequence(nemo.SequenceSettings{Scaffold: true, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	var items, heard [][]int32
	for i := range 10 {
		items = append(items, nemo.Block(i, s.Main.K))
	}
	for range 6 {
		if heard, err = s.Present(items); err != nil {
			fmt.Println(err)
			return
		}
	}
	recalled, err := s.Recall(items[0], len(items))
	same := 0
	for _, j := range recalled[9] {
		for _, i := range heard[9] {
			if i == j {
				same++
			}
		}
	}
	fmt.Println("the last item comes back:", same >= 27, err)
	// Output: the last item comes back: true <nil>
}

// A machine that adds symbols modulo 3.
func ExampleLearnMachine() {
	var table []nemo.Transition
	for state := range 3 {
		for symbol := range 3 {
			table = append(table, nemo.Transition{From: state, Symbol: symbol, To: (state + symbol) % 3})
		}
	}
	m, err := nemo.LearnMachine(table, nemo.MachineSettings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	states, err := m.Run(0, []int{1, 2, 2, 0, 1})
	fmt.Println(states, err)
	_, err = m.Run(0, []int{3})
	fmt.Println(err)
	// Output:
	// [1 0 2 2 0] <nil>
	// nemo: there is no symbol 3: choose one of 3, from 0 to 2
}

// An automaton that utters 0 and 1 by turns, or 2 after a 0.
func ExampleLearnAutomaton() {
	m, err := nemo.LearnAutomaton([]nemo.Arc{
		{From: 0, Flip: 0, To: 1, Symbol: 0}, {From: 0, Flip: 1, To: 1, Symbol: 0},
		{From: 1, Flip: 0, To: 0, Symbol: 1}, {From: 1, Flip: 1, To: 0, Symbol: 2},
	}, nemo.AutomatonSettings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := m.Generate(0, 12)
	fmt.Println(list[0], list[2], list[4], err)
	// Output: 0 0 0 <nil>
}

// A coin that saw one outcome three times as often as the other.
func ExampleLearnedCoin() {
	c, err := nemo.NewLearnedCoin(nemo.LearnedCoinSettings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 400 {
		if err := c.Observe(0, min(1, i%4)); err != nil {
			fmt.Println(err)
			return
		}
	}
	p, err := c.Probabilities(0)
	fmt.Printf("%.2f %v\n", p, err)
	// Output: [0.25 0.75] <nil>
}

// Two stimuli are told apart, one of them by two thirds of its neurons.
func ExampleClassifier() {
	area, err := nemo.NewArea(1000, 30, 0.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	wires := nemo.Wiring{P: 0.25, Seed: 1}
	area.Recurrent, err = wires.Matrix("area>area", 1000, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := wires.Matrix("stimulus>area", 1000, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := nemo.NewClassifier(area, in)
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Normalize()
	for class := range 2 {
		stimulus := nemo.Block(class, 30)
		if _, err := c.Learn([][]int32{stimulus, stimulus, stimulus, stimulus, stimulus}); err != nil {
			fmt.Println(err)
			return
		}
		c.Normalize()
	}
	class, _, err := c.Classify(nemo.Block(1, 30)[:20])
	fmt.Println(class, err)
	// Output: 1 <nil>
}
