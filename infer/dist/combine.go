// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Methods that distributions made of other distributions need.

// with returns the same distribution with other parameters.
func (d Dist) with(params []*ad.Node) Dist {
	same := len(params) == len(d.Params)
	for i := range params {
		same = same && params[i] == d.Params[i]
	}
	if same {
		return d
	}
	if d.remake != nil {
		return d.remake(params)
	}
	family, ok := named(d.Name)
	if !ok {
		return d
	}
	args := make([]any, len(params))
	for i, p := range params {
		args[i] = p
	}
	return family.Make(args...)
}

// paramEvents returns the number of trailing axes of each parameter that belong to one
// value.
func (d Dist) paramEvents() []int {
	out := make([]int, len(d.Params))
	copy(out, d.ParamEvent)
	return out
}

// sizeOfParams returns the total number of elements in one value of every parameter.
func (d Dist) sizeOfParams() int {
	n := 0
	for i := range d.Params {
		n += d.valueSize(i)
	}
	return n
}

// insideOf returns 1 where x is possible and 0 elsewhere; nil stands for 1 everywhere.
func (d Dist) insideOf(x *ad.Node) *ad.Node {
	switch {
	case d.everywhere:
		return nil
	case d.InsideOf != nil:
		return d.InsideOf(x)
	}
	return d.Support.Inside(x)
}

// graphCDF returns a numeric distribution function that evaluates the graph of LogCDF or
// LogCCDF with one value of each parameter.
func (d Dist) graphCDF() func(x float64, p []float64) float64 {
	var once sync.Once
	var states sync.Pool
	var fault error
	build := func() {
		x := ad.Input("x")
		inputs, params := []*ad.Node{x}, make([]*ad.Node, len(d.Params))
		for i, q := range d.Params {
			s := q.Shape()
			params[i] = ad.Input("p", s[max(0, len(s)-d.paramEvents()[i]):]...)
			inputs = append(inputs, params[i])
		}
		one := d.with(params)
		prog, err := ad.Compile([]*ad.Node{one.logCDF(x)}, ad.Settings{Inputs: inputs, Backend: ad.CPU{Threads: 1}})
		if fault = err; err == nil {
			states.New = func() any { return prog.NewState() }
		}
	}
	return func(x float64, p []float64) float64 {
		if once.Do(build); fault != nil {
			return math.NaN()
		}
		s := states.Get().(*ad.State)
		defer states.Put(s)
		s.Input(0)[0] = x
		at := 0
		for i := range d.Params {
			at += copy(s.Input(1+i), p[at:])
		}
		if err := s.Run(); err != nil {
			return math.NaN()
		}
		return math.Exp(s.Output(0)[0])
	}
}
