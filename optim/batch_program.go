// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// variant is a way to compute a batch.
type variant struct {
	weighted bool
	loss     Loss
	scale    float64
}

// compiled is a program of a batch: a way to compute it, the device, nil for the processor, and the lanes.
type compiled struct {
	variant
	on    *cuda.Device
	lanes int
}

// program returns the compiled residual and Jacobian of all lanes. Outputs are
// the weighted residuals, the columns of the weighted Jacobian and, with a robust
// loss, rho and the plain residuals, each M x lanes.
func (b *Batch) program(v variant, on *cuda.Device, lanes int) (*ad.Program, error) {
	if v.loss.plain() {
		v.loss, v.scale = Linear, 0
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	key := compiled{v, on, lanes}
	if p := b.programs[key]; p != nil {
		return p, nil
	}
	var backend ad.Backend = ad.CPU{Threads: 1}
	if on != nil {
		backend = ad.CUDA{Stream: on.Default()}
	}
	inputs, out := b.graph(v)
	p, err := ad.Compile(out, ad.Settings{Inputs: inputs, Batched: inputs, Batch: lanes, Backend: backend})
	if err != nil {
		return nil, fmt.Errorf("optim: batch: %w", err)
	}
	if in := p.Inputs(); len(in) > len(inputs) {
		return nil, fmt.Errorf("optim: batch: the residual uses %v, which is neither a parameter nor a column: pass it to NewBatch", in[len(inputs)])
	}
	b.programs[key] = p
	return p, nil
}

// graph returns the inputs and outputs of program.
func (b *Batch) graph(v variant) (inputs, out []*ad.Node) {
	inputs = slices.Concat(b.model.Params, b.model.Columns)
	r := b.residual
	if v.weighted {
		w := ad.Input("weights", b.model.M)
		inputs = append(inputs, w)
		r = ad.Mul(r, w)
	}
	out = []*ad.Node{r}
	for _, x := range b.model.Params {
		j := ad.Reshape(ad.Jacobian(r, x), b.model.M, x.Size())
		for i := range x.Size() {
			out = append(out, ad.Index(j, 1, i))
		}
	}
	if v.loss != Linear {
		rho, slope, row := v.loss.graph(ad.Scale(1/v.scale, r))
		out[0] = ad.Div(ad.Mul(r, slope), row)
		for i, j := range out[1:] {
			out[1+i] = ad.Mul(j, row)
		}
		out = append(out, rho, r)
	}
	return inputs, out
}

// graph returns rho(z) and rho'(z) of z = u^2 and the factor of the rows, as
// Rho and weigh compute them.
func (l Loss) graph(u *ad.Node) (rho, slope, row *ad.Node) {
	z, one := ad.Square(u), ad.Scalar(1)
	t := ad.Add(one, z)
	var second *ad.Node
	switch l {
	case SoftL1:
		s := ad.Sqrt(t)
		rho, slope = ad.Scale(2, ad.Div(z, ad.Add(s, one))), ad.Reciprocal(s)
		second = ad.Scale(-0.5, ad.Div(slope, t))
	case Huber:
		inner := ad.LessEqual(z, one)
		safe := ad.Maximum(z, one)
		s := ad.Sqrt(safe)
		rho = ad.Where(inner, z, ad.Sub(ad.Scale(2, s), one))
		slope = ad.Reciprocal(s)
		second = ad.Where(inner, ad.Scalar(0), ad.Scale(-0.5, ad.Div(slope, safe)))
	case Cauchy:
		rho, slope = ad.Log1p(z), ad.Reciprocal(t)
		second = ad.Neg(ad.Square(slope))
	case Arctan:
		rho, slope = ad.Atan(z), ad.Reciprocal(ad.Add(one, ad.Square(z)))
		second = ad.Scale(-2, ad.Mul(z, ad.Square(slope)))
	}
	curve := ad.Add(slope, ad.Scale(2, ad.Mul(second, z)))
	row = ad.Sqrt(ad.Maximum(ad.Maximum(curve, ad.Scale(leastCurvature, slope)), ad.Scalar(1e-200)))
	return rho, slope, row
}
