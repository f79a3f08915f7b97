// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Some parameters have no effect of first order at a bound, such as a blur, whose square is the width of images. Their derivative says there that
// nothing is known of them, and that errors of all others do not depend on them. The difference of the expectations over their own standard
// deviation says both.

// flatRounds bounds how often that standard deviation is found anew.
const flatRounds = 16

// flat lists the parameters with a bound at a solution within a tenth of the standard deviation, with more of it than the bounds leave.
func (t *Task) flat(s *Solution) (list []int) {
	for i, p := range t.Params {
		low, high := p.ends()
		if !t.isScale(p.Name) && !math.IsInf(high-low, 0) && s.SD[i] > high-low && min(s.X[i]-low, high-s.X[i]) < s.SD[i]/10 {
			list = append(list, i)
		}
	}
	return list
}

// beyondFlat replaces the information of parameters without an effect of first order at a solution by that of differences, and the covariance.
func (t *Task) beyondFlat(s *Solution, scales map[string]float64) error {
	flat := t.flat(s)
	if len(flat) == 0 {
		return nil
	}
	at, err := t.sensitivity(s.X, scales, len(t.Params))
	if err != nil {
		return err
	}
	var means []*ad.Node
	for _, p := range t.joined.parts {
		means = append(means, p.expected(t.rates))
	}
	program, err := ad.Compile([]*ad.Node{ad.Concat(0, means...)}, ad.Settings{Inputs: t.in, Backend: t.Backend})
	if err != nil {
		return err
	}
	state := program.NewState()
	for _, i := range flat {
		low, high := t.Params[i].ends()
		room := high - s.X[i]
		if s.X[i]-low > room {
			room = low - s.X[i]
		}
		a := slices.Index(at.index, i)
		least, most := 0.0, math.Abs(room) // h at which the standard deviation is above and below it
		for h, round := most, 0; round < flatRounds; round++ {
			for k, v := range s.X {
				state.Input(k)[0] = v
			}
			state.Input(i)[0] += math.Copysign(h, room)
			if err := state.Run(); err != nil {
				return err
			}
			for k, v := range state.Output(0) {
				at.j[a*at.m+k] = (v - at.mean[k]) / math.Copysign(h, room)
			}
			if err := t.covariance(s, at, scales); err != nil {
				return err
			}
			if math.Abs(s.SD[i]/h-1) < 0.05 || s.SD[i] > h && round == 0 {
				break
			}
			if s.SD[i] > h {
				least = h
			} else {
				most = h
			}
			// A blur of the second order has a standard deviation that falls with 1/h; one by less than a pixel has hardly any effect.
			if h = math.Sqrt(h * s.SD[i]); !(h > least && h < most) {
				h = (least + most) / 2
			}
		}
		if s.columns == nil {
			s.columns = map[int][]float64{}
		}
		s.columns[i] = slices.Clone(at.j[a*at.m : (a+1)*at.m])
		if s.SD[i] < math.Abs(room) {
			s.Warnings = slices.DeleteFunc(s.Warnings, func(w string) bool {
				return strings.HasPrefix(w, "the data do not determine "+t.Params[i].Name+":")
			})
		}
	}
	return nil
}

// sensitivityOf is the sensitivity at a solution, with the differences of parameters without an effect of first order.
func (t *Task) sensitivityOf(s *Solution) (*sensitivity, error) {
	at, err := t.sensitivity(s.X, t.scalesOf(s), len(t.Params))
	if err != nil {
		return nil, err
	}
	for i, column := range s.columns {
		if a := slices.Index(at.index, i); len(column) == at.m {
			copy(at.j[a*at.m:], column)
		}
	}
	return at, nil
}

// covariance fills in what follows from the sensitivity at a solution.
func (t *Task) covariance(s *Solution, at *sensitivity, scales map[string]float64) error {
	n := len(s.X)
	information := make([]float64, n*n)
	at.information(information, func(int) bool { return true })
	if err := t.scaleInformation(information, s.X, scales); err != nil {
		return err
	}
	s.Information = slices.Clone(information)
	t.addPriors(information, s.X)
	s.Cov = inverse(information, n)
	s.SD = make([]float64, n)
	for i := range s.SD {
		s.SD[i] = math.Sqrt(s.Cov[i*n+i])
	}
	return nil
}
