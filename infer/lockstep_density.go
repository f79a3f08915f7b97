package infer

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/vectors"
)

// densityProgram makes leapfrogs lane by lane; only the log density and its gradient
// are computed together. It serves posteriors of more parameters than leaps.
type densityProgram struct {
	state   *ad.State
	lanes   int
	given   int       // place of the data among the inputs
	batched []int     // inputs that have lanes
	q, g    []float64 // each element in all lanes
	lp      []float64
}

func newDensities(p *Posterior, batched []*ad.Node, lanes int) (func() integrator, error) {
	k := len(p.model.params)
	inputs, batched := slices.Concat(p.inputs, p.places()), slices.Concat(p.inputs[:k], batched)
	prog, err := ad.Compile(p.graph, ad.Settings{Inputs: inputs, Batch: lanes, Batched: batched, Isolate: true, Backend: ad.CPU{Threads: 1}})
	return func() integrator {
		s := prog.NewState()
		m := &densityProgram{state: s, lanes: lanes, given: k, batched: placesOf(inputs, batched), q: s.InputSpan(0, k), g: s.OutputSpan(1, 1+k), lp: s.Output(0)}
		spreadData(s, k, p, lanes)
		return m
	}, err
}

func (m *densityProgram) load(lane int, p *Posterior) { load(m.state, m.given, lane, m.lanes, p) }

// place makes the first half of a leapfrog.
func (m *densityProgram) place(lane int, t *hamiltonian.Trajectory, _ bool) {
	end, eps := &t.Ends[t.Side], t.Step()
	vectors.AddScaled(end.Z, eps/2, end.W)
	t.Metric.Velocity(t.V, end.Z)
	vectors.AddScaled(end.Q, eps, t.V)
	scatter(m.q, end.Q, lane, m.lanes)
}

func (m *densityProgram) run() error { return m.state.Run() }

// fetch makes the second half.
func (m *densityProgram) fetch(lane int, t *hamiltonian.Trajectory) (h, e float64) {
	end := &t.Ends[t.Side]
	gather(end.G, m.g, lane, m.lanes)
	end.Lp = m.lp[lane]
	t.Metric.Force(end.W, end.G)
	vectors.AddScaled(end.Z, t.Step()/2, end.W)
	t.Next().Hold(t.Mem, end)
	h = end.Energy()
	return h, math.Exp(-math.Abs(t.H0 - h))
}

func (m *densityProgram) leave(int, *hamiltonian.Point) {}

func (m *densityProgram) alone(_ int, t *hamiltonian.Trajectory) (err error) {
	end := &t.Ends[t.Side]
	end.Lp, err = t.Target.LogProbGrad(end.Q, end.G)
	return err
}

func (m *densityProgram) imitate(lane, other int) { imitate(m.state, lane, other, m.lanes, m.batched) }

func (m *densityProgram) park(lane int, q []float64) { scatter(m.q, q, lane, m.lanes) }
