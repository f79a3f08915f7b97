// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import "fmt"

// Machine is a finite automaton in two areas: an arc for each symbol in each state,
// and the state that it leads to. Symbols and states are blocks of K neurons.
type Machine struct {
	Arc, State                     *Area
	fromSymbol, fromState, fromArc *Matrix
	current                        []int32
	symbols, states                int
}

// Transition says that a symbol leads from one state to another.
type Transition struct{ From, Symbol, To int }

// NewMachine makes a machine of two areas and the matrices from symbols to arcs, from states to arcs
// and from arcs to states. The area of arcs gets a bias. There are as many symbols and states as
// there are blocks of neurons.
func NewMachine(arc, state *Area, fromSymbol, fromState, fromArc *Matrix) (*Machine, error) {
	if arc == nil || state == nil {
		return nil, fmt.Errorf("nemo: the machine lacks the area of its arcs or of its states: make them with NewArea")
	}
	if arc.K != state.K {
		return nil, fmt.Errorf("nemo: arcs fire %d neurons, but states fire %d: make them equal", arc.K, state.K)
	}
	if err := fromSymbol.onto("from symbols to arcs", arc.N); err != nil {
		return nil, err
	}
	if err := fromState.between("from states to arcs", state.N, arc.N); err != nil {
		return nil, err
	}
	if err := fromArc.between("from arcs to states", arc.N, state.N); err != nil {
		return nil, err
	}
	arc.Bias = make([]float64, arc.N)
	return &Machine{Arc: arc, State: state, fromSymbol: fromSymbol, fromState: fromState, fromArc: fromArc,
		symbols: len(fromSymbol.rows) / arc.K, states: state.N / state.K}, nil
}

// MachineSettings describe the random connections and the training. Zero values are the defaults.
type MachineSettings struct {
	K             int // neurons of a symbol, a state and an arc; default 70
	SymbolNeurons int // neurons of the area of symbols; default K for each symbol
	StateNeurons  int // neurons of the area of states; default 100 plus K for each state
	// neurons of the area of arcs; default 150 for each transition, so that arcs of K each stay
	// apart
	ArcNeurons    int
	P             float64 // probability of a synapse; default 0.2
	Beta          float64 // plasticity of all synapses; default 0.1
	Presentations int     // number of times the whole table is presented; default 20
	Seed          uint64
}

// LearnMachine draws the connections of a machine and teaches it a table. It returns an error if one
// symbol leads from a state to two states, or if there are too few neurons.
func LearnMachine(table []Transition, set MachineSettings) (*Machine, error) {
	symbols, states, err := extent(table)
	if err != nil {
		return nil, err
	}
	k, beta := orElse(set.K, 70), orElseFloat(set.Beta, 0.1)
	d := &drawing{Wiring: Wiring{P: orElseFloat(set.P, 0.2), Seed: set.Seed}}
	arc := d.area(orElse(set.ArcNeurons, max(150*len(table), k)), k, beta)
	state := d.area(orElse(set.StateNeurons, 100+states*k), k, beta)
	inputs := orElse(set.SymbolNeurons, symbols*k)
	if d.err == nil && inputs < k {
		d.err = fmt.Errorf("nemo: there are %d neurons for symbols of %d: want at least as many", inputs, k)
	}
	if d.err != nil {
		return nil, d.err
	}
	m, err := NewMachine(arc, state, d.matrix("symbol>arc", inputs, arc.N),
		d.matrix("state>arc", state.N, arc.N), d.matrix("arc>state", arc.N, state.N))
	if d.err != nil {
		return nil, d.err
	}
	if err != nil {
		return nil, err
	}
	n := orElse(set.Presentations, 20)
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
	m.symbols, m.states = symbols, states
	return m, nil
}

// extent counts the symbols and states of a table.
func extent(table []Transition) (symbols, states int, err error) {
	if len(table) == 0 {
		return 0, 0, fmt.Errorf("nemo: the machine has no transitions: give it at least one")
	}
	seen := map[[2]int]int{}
	for i, t := range table {
		if t.From < 0 || t.Symbol < 0 || t.To < 0 {
			return 0, 0, fmt.Errorf("nemo: transition %d is %+v: want numbers from 0", i, t)
		}
		if to, ok := seen[[2]int{t.From, t.Symbol}]; ok && to != t.To {
			return 0, 0, fmt.Errorf("nemo: transition %d: symbol %d leads from state %d both to %d and to %d: leave one out, or use an Automaton for chance", i, t.Symbol, t.From, to, t.To)
		}
		seen[[2]int{t.From, t.Symbol}] = t.To
		symbols, states = max(symbols, t.Symbol+1), max(states, t.From+1, t.To+1)
	}
	return symbols, states, nil
}

// Teach presents a transition once.
func (m *Machine) Teach(t Transition) error {
	if err := within("symbol", t.Symbol, m.symbols); err != nil {
		return err
	}
	if err := within("state", max(t.From, t.To), m.states); err != nil {
		return err
	}
	if err := within("state", min(t.From, t.To), m.states); err != nil {
		return err
	}
	m.Arc.Inhibit()
	m.State.Inhibit()
	if err := m.Arc.Step(true, Firing{m.fromSymbol, Block(t.Symbol, m.Arc.K)}, Firing{m.fromState, Block(t.From, m.State.K)}); err != nil {
		return err
	}
	return m.State.Force(Block(t.To, m.State.K), Firing{m.fromArc, m.Arc.Winners})
}

// Start puts the machine into a state.
func (m *Machine) Start(state int) error {
	if err := within("state", state, m.states); err != nil {
		return err
	}
	m.Arc.Inhibit()
	m.current = Block(state, m.State.K)
	return nil
}

// Read advances the machine by a symbol, in two steps and without learning, and returns the winners
// of the state that it reaches. It returns an error before Start, ErrUntaught before the first
// transition was taught, and ErrSilent if no state fires.
func (m *Machine) Read(symbol int) ([]int32, error) {
	if err := within("symbol", symbol, m.symbols); err != nil {
		return nil, err
	}
	switch {
	case m.fromArc.drawn:
		return nil, fmt.Errorf("nemo: a machine of %d states cannot read symbol %d: %w: call Teach first", m.states, symbol, ErrUntaught)
	case len(m.current) == 0:
		return nil, fmt.Errorf("nemo: the machine is in no state and cannot read symbol %d: %w: call Start with one of its %d states", symbol, ErrSilent, m.states)
	}
	if err := m.Arc.Step(false, Firing{m.fromSymbol, Block(symbol, m.Arc.K)}, Firing{m.fromState, m.current}); err != nil {
		return nil, err
	}
	if err := m.State.Step(false, Firing{m.fromArc, m.Arc.Winners}); err != nil {
		return nil, err
	}
	if m.current = m.State.Winners; len(m.current) == 0 {
		return nil, fmt.Errorf("nemo: symbol %d leads to no state, through arcs of %d neurons: %w: teach the transition, or draw more synapses", symbol, len(m.Arc.Winners), ErrSilent)
	}
	return m.current, nil
}

// Run starts in a state, reads symbols and returns the state after each: the one whose block shares
// most neurons with those that fire, or -1 if none shares any.
func (m *Machine) Run(start int, symbols []int) ([]int, error) {
	if err := m.Start(start); err != nil {
		return nil, err
	}
	var list []int
	for _, s := range symbols {
		neurons, err := m.Read(s)
		if err != nil {
			return list, err
		}
		state, _ := Nearest(neurons, m.State.K, m.states)
		list = append(list, state)
	}
	return list, nil
}

// within returns an error unless the number of a symbol, a state or the like is in range.
func within(what string, i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("nemo: there is no %s %d: choose one of %d, from 0 to %d", what, i, n, n-1)
	}
	return nil
}
