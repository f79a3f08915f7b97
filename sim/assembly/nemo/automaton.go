// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import "fmt"

// Automaton is a probabilistic finite automaton: a coin chooses between the two arcs that leave each
// state, and an arc leads to a state and emits a symbol. States and symbols are blocks of K neurons.
type Automaton struct {
	Arc, State, Symbol *Area
	Coin               *Coin

	fromState, fromCoin, toState, toSymbol *Matrix
	current                                []int32
	symbols, states                        int
}

// Arc says where an automaton goes from a state when its coin shows Flip, and which symbol it emits
// on the way.
type Arc struct{ From, Flip, To, Symbol int }

// AutomatonSettings describe the random connections and the training. Zero values are the defaults.
type AutomatonSettings struct {
	K             int     // neurons of a symbol, a state, an arc and an outcome; default 70
	SymbolNeurons int     // neurons of the area of symbols; default 100 plus K for each symbol
	StateNeurons  int     // neurons of the area of states; default 100 plus K for each state
	ArcNeurons    int     // neurons of the area of arcs; default 400 for each arc
	CoinNeurons   int     // neurons of the coin; default 1000, or 4 K if that is more
	P             float64 // probability of a synapse; default 0.25
	Beta          float64 // plasticity of all synapses; default 0.1
	Presentations int     // number of times the whole table is presented; default 18
	Seed          uint64  // seed of connections and flips
}

// LearnAutomaton draws the connections of an automaton and teaches it a table. It returns an error
// if one flip leads from a state to two states, or if there are too few neurons.
func LearnAutomaton(table []Arc, set AutomatonSettings) (*Automaton, error) {
	m, err := newAutomaton(table, set)
	if err != nil {
		return nil, err
	}
	n := orElse(set.Presentations, 18)
	if n < 1 {
		return nil, fmt.Errorf("nemo: the table is to be presented %d times: want at least once", n)
	}
	for range n {
		for _, t := range table {
			if err := m.Teach(t); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func newAutomaton(table []Arc, set AutomatonSettings) (*Automaton, error) {
	m := &Automaton{}
	flips, err := m.measure(table)
	if err != nil {
		return nil, err
	}
	k, beta := orElse(set.K, 70), orElseFloat(set.Beta, 0.1)
	d := &drawing{Wiring: Wiring{P: orElseFloat(set.P, 0.25), Seed: set.Seed}}
	m.Symbol = d.area(orElse(set.SymbolNeurons, 100+m.symbols*k), k, beta)
	m.State = d.area(orElse(set.StateNeurons, 100+m.states*k), k, beta)
	m.Arc = d.area(orElse(set.ArcNeurons, max(400*len(table), k)), k, beta)
	if d.err == nil {
		m.Coin, d.err = NewCoin(CoinSettings{N: orElse(set.CoinNeurons, max(1000, 4*k)), K: k, P: d.P, Outcomes: flips, Seed: set.Seed})
	}
	if d.err == nil && (m.symbols*k > m.Symbol.N || m.states*k > m.State.N) {
		d.err = fmt.Errorf("nemo: there are %d symbols of %d neurons among %d, and %d states among %d: give areas with enough neurons for all", m.symbols, k, m.Symbol.N, m.states, m.State.N)
	}
	if d.err != nil {
		return nil, d.err
	}
	m.Arc.Bias = make([]float64, m.Arc.N)
	m.fromState, m.fromCoin = d.matrix("state>arc", m.State.N, m.Arc.N), d.matrix("coin>arc", m.Coin.Area.N, m.Arc.N)
	m.toState, m.toSymbol = d.matrix("arc>state", m.Arc.N, m.State.N), d.matrix("arc>symbol", m.Arc.N, m.Symbol.N)
	return m, d.err
}

// measure counts the symbols, states and flips of a table.
func (m *Automaton) measure(table []Arc) (flips int, err error) {
	if len(table) == 0 {
		return 0, fmt.Errorf("nemo: the automaton has no arcs: give it at least one")
	}
	seen := map[[2]int]Arc{}
	for i, t := range table {
		if min(t.From, t.Flip, t.To, t.Symbol) < 0 {
			return 0, fmt.Errorf("nemo: arc %d is %+v: want numbers from 0", i, t)
		}
		if other, ok := seen[[2]int{t.From, t.Flip}]; ok && other != t {
			return 0, fmt.Errorf("nemo: arc %d is %+v, but flip %d of state %d already leads to %+v: leave one of them out", i, t, t.Flip, t.From, other)
		}
		seen[[2]int{t.From, t.Flip}] = t
		flips = max(flips, t.Flip+1)
		m.symbols, m.states = max(m.symbols, t.Symbol+1), max(m.states, t.From+1, t.To+1)
	}
	return flips, nil
}

// Teach presents an arc once.
func (m *Automaton) Teach(t Arc) error {
	if err := m.has(t); err != nil {
		return err
	}
	k := m.Arc.K
	if err := m.Arc.Step(true, Firing{m.fromState, Block(t.From, k)}, Firing{m.fromCoin, Block(t.Flip, k)}); err != nil {
		return err
	}
	if err := m.Symbol.Force(Block(t.Symbol, k), Firing{m.toSymbol, m.Arc.Winners}); err != nil {
		return err
	}
	return m.State.Force(Block(t.To, k), Firing{m.toState, m.Arc.Winners})
}

func (m *Automaton) has(t Arc) error {
	for _, e := range []error{within("state", t.From, m.states), within("state", t.To, m.states),
		within("symbol", t.Symbol, m.symbols), within("flip", t.Flip, m.Coin.outcomes)} {
		if e != nil {
			return e
		}
	}
	return nil
}

// Start puts the automaton into a state.
func (m *Automaton) Start(state int) error {
	if err := within("state", state, m.states); err != nil {
		return err
	}
	m.current = Block(state, m.State.K)
	return nil
}

// Step flips the coin, follows the arc and returns the emitted symbol: the one whose block shares
// most neurons with those that fire, or -1 if none shares any. It returns ErrSilent before Start,
// and if no state fires.
func (m *Automaton) Step() (int, error) {
	if len(m.current) == 0 {
		return 0, fmt.Errorf("nemo: the automaton is in no state: %w: call Start with one of its %d states", ErrSilent, m.states)
	}
	flip, err := m.Coin.Flip()
	if err != nil {
		return 0, err
	}
	return m.follow(flip)
}

// follow takes the arc that a flip selects.
func (m *Automaton) follow(flip []int32) (symbol int, err error) {
	if err := m.Arc.Step(false, Firing{m.fromState, m.current}, Firing{m.fromCoin, flip}); err != nil {
		return 0, err
	}
	if err := m.State.Step(false, Firing{m.toState, m.Arc.Winners}); err != nil {
		return 0, err
	}
	if err := m.Symbol.Step(false, Firing{m.toSymbol, m.Arc.Winners}); err != nil {
		return 0, err
	}
	if m.current = m.State.Winners; len(m.current) == 0 {
		return 0, fmt.Errorf("nemo: the flip of %d neurons leads to no state, through arcs of %d neurons: %w: teach more, or draw more synapses", len(flip), len(m.Arc.Winners), ErrSilent)
	}
	symbol, _ = Nearest(m.Symbol.Winners, m.Symbol.K, m.symbols)
	return symbol, nil
}

// Generate starts in a state and returns the next n symbols.
func (m *Automaton) Generate(start, n int) ([]int, error) {
	if err := m.Start(start); err != nil {
		return nil, err
	}
	var list []int
	for range n {
		s, err := m.Step()
		if err != nil {
			return list, err
		}
		list = append(list, s)
	}
	return list, nil
}
