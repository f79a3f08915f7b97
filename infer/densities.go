package infer

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// densities makes leapfrogs lane by lane; only the log density and its gradient
// are computed together. It serves posteriors of more parameters than leaps.
type densities struct {
	state   *ad.State
	lanes   int
	given   int       // place of the data among the inputs
	batched []int     // inputs that have lanes
	q, g    []float64 // each element in all lanes
	lp      []float64
}

func newDensities(p *Posterior, batched []*ad.Node, lanes int) (func() marcher, error) {
	k := len(p.model.params)
	inputs, batched := slices.Concat(p.inputs, p.places()), slices.Concat(p.inputs[:k], batched)
	prog, err := ad.Compile(p.graph, ad.Settings{Inputs: inputs, Threads: 1, Batch: lanes, Batched: batched, Isolate: true})
	return func() marcher {
		s := prog.NewState()
		m := &densities{state: s, lanes: lanes, given: k, batched: placesOf(inputs, batched), q: s.InputSpan(0, k), g: s.OutputSpan(1, 1+k), lp: s.Output(0)}
		spreadData(s, k, p, lanes)
		return m
	}, err
}

func (m *densities) load(lane int, p *Posterior) { load(m.state, m.given, lane, m.lanes, p) }

// place makes the first half of a leapfrog.
func (m *densities) place(lane int, t *trajectory, _ bool) {
	end, eps := &t.ends[t.side], t.step()
	axpy(end.z, eps/2, end.w)
	t.metric.velocity(t.v, end.z)
	axpy(end.q, eps, t.v)
	scatter(m.q, end.q, lane, m.lanes)
}

func (m *densities) run() error { return m.state.Run() }

// fetch makes the second half.
func (m *densities) fetch(lane int, t *trajectory) (h, e float64) {
	end := &t.ends[t.side]
	gather(end.g, m.g, lane, m.lanes)
	end.lp = m.lp[lane]
	t.metric.force(end.w, end.g)
	axpy(end.z, t.step()/2, end.w)
	t.next().hold(t.mem, end)
	h = end.energy()
	return h, math.Exp(-math.Abs(t.h0 - h))
}

func (m *densities) leave(int, *point) {}

func (m *densities) alone(_ int, t *trajectory) (err error) {
	end := &t.ends[t.side]
	end.lp, err = t.target.LogProbGrad(end.q, end.g)
	return err
}

func (m *densities) imitate(lane, other int) { imitate(m.state, lane, other, m.lanes, m.batched) }

func (m *densities) park(lane int, q []float64) { scatter(m.q, q, lane, m.lanes) }
