// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/roofline"
	"github.com/euryale-dev/euryale/optim/internal/batch"
)

// fitWork declares the launches of one step of all lanes of a batch without a loss: a run of the program of residuals and derivatives, and
// then the kernels of lanes.cu.
func fitWork(b *Batch, lanes int, weighted bool) ([]roofline.Launch, error) {
	inputs, out := b.graph(variant{weighted: weighted})
	list, err := ad.Launches(out, ad.Settings{Inputs: inputs, Batched: inputs, Batch: lanes, Backend: ad.CUDA{}})
	if err != nil {
		return nil, err
	}
	const outputs, gram, state = 1 << 20, 1<<20 + 1, 1<<20 + 2 // arrays that are not the program's
	n, m, l := float64(b.model.N), float64(b.model.M), float64(lanes)
	products := (n + 1) * (n + 2) / 2
	g := roofline.Stream("fit_gram", lanes/32, 256, roofline.Array{ID: outputs, Bytes: 8 * (n + 1) * m * l}, roofline.Array{ID: gram, Bytes: 8 * products * l, Write: true})
	g.Work.Float64, g.Work.Integers, g.Work.Accesses = products*m*l, 12*m*l, 2*(n+1)*m*l+16*products*l
	g.Work.Trips, g.Work.Serial, g.Shared = m/8+2, m/8*products/4*2+200, 8*16*8*32
	if b.model.N > 6 {
		g.Grid *= b.model.N + 1
		g.Work.Sectors *= (n + 2) / 2 // each row of the triangle reads all columns before its own
	}
	slots := 4*n + n*(n+1)/2 + 9
	s := roofline.Stream("fit_step", (lanes+63)/64, 64, roofline.Array{ID: gram, Bytes: 8 * products * l}, roofline.Array{ID: state, Bytes: 8 * slots * l}, roofline.Array{ID: state, Bytes: 8 * slots * l, Write: true})
	s.Work.Trips, s.Registers = 4, 255
	s.Work.Unknown = "the instructions of a step of a lane, which depend on how often it turns its radius"
	f := roofline.Stream("fit_fill", (lanes+7)/8, 256, roofline.Array{ID: state + 1, Bytes: 4 * l})
	f.Work.Accesses, f.Work.Integers = 32*l, 300*l
	return append(list, g, s, f), nil
}

func init() {
	const rows, points, evaluations = 100_000, 64, 8.5
	lanes := batch.PlanFor(&batch.Model{M: points, N: 4}, rows, true, false, 0).Lanes
	steps := rows * evaluations / float64(lanes)
	roofline.Register(roofline.Figure{Name: "100,000 fits of g2, 64 points and 4 parameters", Measured: 40e-3, Sent: 8 * rows * (2*points + 4), Pages: 8 * rows * (3*4 + 10 + 4), Waits: int(steps / 4), Share: steps,
		Note: fmt.Sprintf("Packing of data on the processor, and the end, where few lanes have a fit, are not modelled; fits take %g evaluations on average by the processor, which the figure takes for steps of full lanes.", evaluations),
		Do: func() ([]roofline.Launch, error) {
			x := make([]float64, points)
			for i := range x {
				x[i] = 0.01 * float64(i+1)
			}
			var p []*ad.Node
			for _, name := range []string{"b", "c", "t", "s"} {
				p = append(p, ad.Input(name))
			}
			y := ad.Input("y", points)
			mean := ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Scale(-2, ad.Pow(ad.Div(ad.Const(x), p[2]), p[3])))))
			b, err := NewBatch(ad.Sub(mean, y), p, y)
			if err != nil {
				return nil, err
			}
			return fitWork(b, lanes, true)
		}})
}
