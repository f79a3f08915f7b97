package infer

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
)

// columnWriter fills the columns of the draws of a Posterior, many at once.
type columnWriter struct {
	state *ad.State
	given int       // place of the data among the inputs
	q, to []float64 // each element in all lanes
}

// columnLanes is the number of draws whose columns are computed together.
const columnLanes = 64

func (p *Posterior) columnProgram() (*ad.Program, error) {
	k := len(p.model.params)
	return ad.Compile(p.derived, ad.Settings{Inputs: p.inputs, Batch: columnLanes, Batched: p.inputs[:k], Backend: ad.CPU{Threads: 1}})
}

func newColumnWriter(prog *ad.Program, p *Posterior) *columnWriter {
	s, k := prog.NewState(), len(p.model.params)
	return &columnWriter{state: s, given: k, q: s.InputSpan(0, k), to: s.OutputSpan(0, len(p.derived))}
}

// fill writes the columns of all draws in r, which are of p.
func (w *columnWriter) fill(p *Posterior, r *record) error {
	for i, v := range p.data {
		copy(w.state.Input(w.given+i), v)
	}
	n := p.Len()
	room := make([]float64, n*len(r.rows))
	r.outputs = make([][]float64, 0, len(r.rows))
	for from := 0; from < len(r.rows); from += columnLanes {
		rows := r.rows[from:min(len(r.rows), from+columnLanes)]
		for i, q := range rows {
			scatter(w.q, q, i, columnLanes)
		}
		failed := w.state.Run() != nil
		for i, q := range rows {
			out := room[:n:n]
			room = room[n:]
			if gather(out, w.to, i, columnLanes); failed {
				if err := writeOrNaN(p, q, out); err != nil {
					return err
				}
			}
			r.outputs = append(r.outputs, out)
		}
	}
	return nil
}

// writeOrNaN fills out with the columns at q, or NaN where the model has none.
func writeOrNaN(o Outputs, q, out []float64) error {
	err := o.Write(q, out)
	if err != nil && !hamiltonian.Recoverable(err) {
		return fmt.Errorf("outputs: %w", err)
	}
	if err != nil {
		for i := range out {
			out[i] = math.NaN()
		}
	}
	return nil
}
