package nemo

import "github.com/euryale-dev/euryale/sim/assembly"

// Machine is a finite automaton in two areas: an arc for each symbol in each state,
// and the state that it leads to. Symbols and states are blocks of K neurons.
type Machine struct {
	Arc, State                     *Area
	fromSymbol, fromState, fromArc *Matrix
	current                        []int32
}

// NewMachine makes a machine of areas, of which arc has a bias, and the matrices from
// symbols to arcs, from states to arcs and from arcs to states.
func NewMachine(arc, state *Area, fromSymbol, fromState, fromArc *Matrix) *Machine {
	arc.Bias = make([]float64, arc.N)
	return &Machine{Arc: arc, State: state, fromSymbol: fromSymbol, fromState: fromState, fromArc: fromArc}
}

// Teach presents once that a symbol leads from one state to the next.
func (m *Machine) Teach(symbol, from, to int) {
	m.Arc.Inhibit()
	m.State.Inhibit()
	m.Arc.Step(true, Firing{m.fromSymbol, Block(symbol, m.Arc.K)}, Firing{m.fromState, Block(from, m.State.K)})
	m.State.Force(Block(to, m.State.K), Firing{m.fromArc, m.Arc.Winners})
}

// Start puts the machine into a state.
func (m *Machine) Start(state int) {
	m.Arc.Inhibit()
	m.current = Block(state, m.State.K)
}

// Read moves the machine by a symbol, in two steps and without learning, and returns
// the neurons of the state it comes to.
func (m *Machine) Read(symbol int) []int32 {
	m.Arc.Step(false, Firing{m.fromSymbol, Block(symbol, m.Arc.K)}, Firing{m.fromState, m.current})
	m.State.Step(false, Firing{m.fromArc, m.Arc.Winners})
	m.current = m.State.Winners
	return m.current
}

// In returns the state whose block overlaps neurons most, of states, and by how many
// neurons.
func (m *Machine) In(neurons []int32, states int) (state, overlap int) {
	for s := range states {
		if n := int(assembly.Overlap(Block(s, m.State.K), neurons, 1)); n > overlap {
			state, overlap = s, n
		}
	}
	return state, overlap
}
