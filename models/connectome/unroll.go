// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import ad "github.com/euryale-dev/euryale/autodiff"

// Dynamics says how assemblies form.
type Dynamics struct {
	Steps int
	K     *ad.Node // number of neurons that fire
	Cap   KCap
	// Normalize divides the weights onto each neuron by their sum before they are used.
	Normalize bool
	MaxWeight float64 // largest weight a synapse grows to; 0 for no bound
}

// Run is the record of a simulation, step by step.
type Run struct {
	Inputs, Activities []*ad.Node // inputs of the neurons in each step, [n] or, for a batch of stimuli, [b, n]
	Stimulus           *ad.Node   // weights from the stimulus at the end
	Recurrent          *ad.Node   // weights within the area at the end
}

// Last returns the activities of the last step.
func (r *Run) Last() *ad.Node { return r.Activities[len(r.Activities)-1] }

// Unroll lets a stimulus [m] fire into an area of n neurons through weights ws [m, n],
// and the area into itself through wr [n, n], with plasticity beta:
//
//	h = s W_s + y W_r,  y' = cap(h),  W_s *= 1 + beta s y'^T,  W_r *= 1 + beta y y'^T
//
// Gradient: with respect to the stimulus, both weights and beta, through time and plasticity. If
// beta is nil, nothing is learnt, and the stimulus may be a batch [b, m].
func Unroll(stimulus, ws, wr, beta *ad.Node, d Dynamics) *Run {
	r := &Run{Stimulus: ws, Recurrent: wr}
	var y *ad.Node
	for range d.Steps {
		h := ad.MatMul(row(stimulus), d.used(r.Stimulus))
		if y != nil {
			h = ad.Add(h, ad.MatMul(row(y), d.used(r.Recurrent)))
		}
		if len(stimulus.Shape()) == 1 {
			h = ad.Reshape(h, h.Size())
		}
		next := d.Cap.Of(h, d.K)
		r.Inputs, r.Activities = append(r.Inputs, h), append(r.Activities, next)
		if beta != nil {
			r.Stimulus = d.strengthened(r.Stimulus, beta, stimulus, next)
			if y != nil {
				r.Recurrent = d.strengthened(r.Recurrent, beta, y, next)
			}
		}
		y = next
	}
	return r
}

// row makes a matrix of a vector.
func row(x *ad.Node) *ad.Node {
	if len(x.Shape()) == 1 {
		return ad.Reshape(x, 1, x.Size())
	}
	return x
}

func (d Dynamics) used(w *ad.Node) *ad.Node {
	if !d.Normalize {
		return w
	}
	shape := w.Shape().Clone()
	shape[len(shape)-2] = 1
	sum := ad.Reshape(ad.SumAxes(w, -2), shape...)
	return ad.Div(w, ad.Where(ad.Equal(sum, ad.Scalar(0)), ad.Scalar(1), sum))
}

// strengthened applies Hebb's rule between the neurons active before and those active now.
func (d Dynamics) strengthened(w, beta, before, now *ad.Node) *ad.Node {
	pair := ad.Mul(ad.Reshape(before, before.Size(), 1), ad.Reshape(now, 1, now.Size()))
	w = ad.Mul(w, ad.Shift(ad.Mul(beta, pair), 1))
	if d.MaxWeight > 0 {
		w = ad.Minimum(w, ad.Scalar(d.MaxWeight))
	}
	return w
}
