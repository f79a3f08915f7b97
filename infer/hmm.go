// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// HMMForward returns the log-likelihood of a hidden Markov model, its states
// summed out by the forward algorithm:
//
//	alpha_0 = initial + emission_0
//	alpha_t(j) = emission_t(j) + log sum_i exp(alpha_(t-1)(i) + transition(i, j))
//	result = log sum_j exp(alpha_(T-1)(j))
//
// Shapes: initial (K), the log probabilities of the first state, or all 0 for
// none; transition (K, K), or (T-1, K, K) where it changes with time, log
// probability of going from row to column; emission (T, K), the log density of
// each observation in each state. -Inf stands for what cannot happen; the gradient
// with respect to it is 0, and so is that of a sequence that cannot happen. Gradient:
// with respect to all three, of first order. The result is a scalar for
// Model.AddLogProb.
//
// Reference: Rabiner, doi:10.1109/5.18626, section III A.
func HMMForward(initial, transition, emission *ad.Node) *ad.Node {
	alpha := HMMFilter(initial, transition, emission)
	if alpha.Err() != nil {
		return alpha
	}
	return ad.LogSumExp(ad.Index(alpha, 0, alpha.Shape()[0]-1), -1)
}

// HMMFilter returns the alpha of HMMForward, shape (T, K): the log of the joint
// density of the observations up to t and state j at t.
func HMMFilter(initial, transition, emission *ad.Node) *ad.Node {
	return ad.Call(hmmFilter, initial, transition, emission)
}

var hmmFilter = &ad.Custom{Name: "hmm_filter", Shape: hmmShape, Forward: hmmForward, Adjoint: hmmAdjoint}

func hmmShape(in ...tensor.Shape) (tensor.Shape, error) {
	initial, transition, emission := in[0], in[1], in[2]
	if len(emission) != 2 || emission[0] == 0 || emission[1] == 0 {
		return nil, fmt.Errorf("the emissions have shape %v: want (T, K), the log density of each observation in each state", emission)
	}
	t, k := emission[0], emission[1]
	if !initial.Equal(tensor.Shape{k}) {
		return nil, fmt.Errorf("the initial log probabilities have shape %v: want (%d), one for each state", initial, k)
	}
	if !transition.Equal(tensor.Shape{k, k}) && !transition.Equal(tensor.Shape{t - 1, k, k}) {
		return nil, fmt.Errorf("the transitions have shape %v: want (%d, %d) or (%d, %d, %d)", transition, k, k, t-1, k, k)
	}
	return emission, nil
}

// step returns the transitions from t-1 to t.
func hmmStep(all []float64, t, k int) []float64 {
	if len(all) == k*k {
		return all
	}
	return all[(t-1)*k*k : t*k*k]
}

func hmmForward(alpha []float64, in ...[]float64) error {
	initial, transition, emission := in[0], in[1], in[2]
	k := len(initial)
	for j, v := range initial {
		alpha[j] = v + emission[j]
	}
	for t := 1; t*k < len(alpha); t++ {
		step, before := hmmStep(transition, t, k), alpha[(t-1)*k:t*k]
		for j := range k {
			alpha[t*k+j] = emission[t*k+j] + logSumInto(before, step[j:], k)
		}
	}
	return nil
}

// logSumInto returns log sum_i exp(a_i + b_(i k)).
func logSumInto(a, b []float64, k int) float64 {
	top := math.Inf(-1)
	for i, v := range a {
		if s := v + b[i*k]; s > top || math.IsNaN(s) {
			top = s
		}
	}
	if math.IsInf(top, -1) || math.IsNaN(top) {
		return top
	}
	sum := 0.0
	for i, v := range a {
		sum += math.Exp(v + b[i*k] - top)
	}
	return top + math.Log(sum)
}

// hmmAdjoint runs backwards through time: the gradient of alpha_t is that of
// emission_t, and reaches alpha_(t-1)(i) by the share of i in the sum.
func hmmAdjoint(dIn [][]float64, g, alpha []float64, in ...[]float64) error {
	transition, emission := in[1], in[2]
	dInitial, dTransition, dEmission := dIn[0], dIn[1], dIn[2]
	k := len(dInitial)
	copy(dEmission, g)
	clear(dTransition)
	for t := len(alpha)/k - 1; t > 0; t-- {
		step, dStep := hmmStep(transition, t, k), hmmStep(dTransition, t, k)
		before, dBefore := alpha[(t-1)*k:t*k], dEmission[(t-1)*k:t*k]
		for j := range k {
			d, total := dEmission[t*k+j], alpha[t*k+j]-emission[t*k+j]
			if d == 0 || math.IsInf(alpha[t*k+j], -1) { // what cannot happen has no gradient
				continue
			}
			for i, a := range before {
				share := d * math.Exp(a+step[i*k+j]-total)
				dBefore[i] += share
				dStep[i*k+j] += share
			}
		}
	}
	copy(dInitial, dEmission[:k])
	return nil
}
