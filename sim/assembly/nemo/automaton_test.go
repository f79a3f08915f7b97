// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	_ "embed"
	"encoding/json"
	"slices"
	"testing"
)

// One automaton and its coin step by step; the file says how it was made.
//
//go:embed testdata/automaton.json
var automatonGolden []byte

func TestAutomatonStepByStep(t *testing.T) {
	var g struct {
		Seed                        uint64
		K, Presentations            int
		P, Beta                     float64
		Symbols, States, Arcs, Coin int
		Table                       [][4]int
		Flips                       []struct{ Start, First, End []int32 }
		LastArcs                    [][]int32 `json:"last_arcs"`
		Said, Visited               [][]int32
		BiasSum                     float64 `json:"bias_sum"`
		Sums                        []float64
	}
	must(t, json.Unmarshal(automatonGolden, &g))
	c := goldenCase{Seed: g.Seed, P: g.P}
	m := &Automaton{Symbol: area(t, g.Symbols, g.K, g.Beta), State: area(t, g.States, g.K, g.Beta), Arc: area(t, g.Arcs, g.K, g.Beta),
		Coin:     &Coin{Area: area(t, g.Coin, g.K, 3), outcomes: 2},
		toSymbol: c.matrix(t, 1, g.Arcs, g.Symbols), toState: c.matrix(t, 2, g.Arcs, g.States),
		fromState: c.matrix(t, 3, g.States, g.Arcs), fromCoin: c.matrix(t, 4, g.Coin, g.Arcs), symbols: g.Symbols / g.K, states: g.States / g.K}
	m.Arc.Bias = make([]float64, g.Arcs)
	coin := m.Coin.Area
	coin.Recurrent = c.matrix(t, 5, g.Coin, g.Coin)
	must(t, imprint(coin, 2))
	for _, f := range g.Flips {
		must(t, coin.Fire(f.Start))
		must(t, coin.Step(false))
		equal(t, "first step of a flip", [][]int32{coin.Winners}, [][]int32{f.First})
		must(t, coin.settle(9))
		equal(t, "end of a flip", [][]int32{coin.Winners}, [][]int32{f.End})
	}
	var arcs [][]int32
	for range g.Presentations {
		arcs = nil
		for _, x := range g.Table {
			must(t, m.Teach(Arc{x[0], x[1], x[2], x[3]}))
			arcs = append(arcs, m.Arc.Winners)
		}
	}
	equal(t, "arc", arcs, g.LastArcs)
	must(t, m.Start(0))
	for i, f := range g.Flips {
		_, err := m.follow(f.End)
		must(t, err)
		if !slices.Equal(m.Symbol.Winners, g.Said[i]) || !slices.Equal(m.State.Winners, g.Visited[i]) {
			t.Fatalf("step %d: symbol %v in state %v, want %v in %v", i, m.Symbol.Winners, m.State.Winners, g.Said[i], g.Visited[i])
		}
	}
	sum := 0.0
	for _, b := range m.Arc.Bias {
		sum += b
	}
	near(t, "sum of biases", sum, g.BiasSum)
	for i, w := range []*Matrix{m.toSymbol, m.toState, m.fromState, m.fromCoin, coin.Recurrent} {
		near(t, "sum of weights", w.Sum(), g.Sums[i])
	}
}
