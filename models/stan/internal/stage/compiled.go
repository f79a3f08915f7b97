// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"encoding/binary"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// calls are calls of functions with known arguments that were compiled, by the name, the sizes and the integers of the arguments.
type calls struct {
	by       map[string]*compiledCall
	evaluate map[string]bool // functions that were seen to evaluate a graph
}

// Kept is what the Machines of one chain keep from draw to draw. Chains that run at once must not share it.
type Kept struct{ calls calls }

// NewKept returns an empty Kept.
func NewKept() *Kept {
	return &Kept{calls{by: map[string]*compiledCall{}, evaluate: map[string]bool{}}}
}

// compiledCall is a program for a call; nil if there is none.
type compiledCall struct {
	state *ad.State
	v     value.Value
}

// mostCompiled bounds the programs that are kept.
const mostCompiled = 4096

// run calls a function by its program. The second result is false if it has none.
func (c *calls) run(f *library.Function, call *library.Call) (value.Value, bool) {
	key := []byte(call.Name)
	for _, a := range call.Args {
		if a.Elems != nil || a.Lanes > 0 {
			return value.Value{}, false
		}
		key = append(key, byte(a.Type.Kind), byte(a.Type.Dims), byte(len(a.Shape)))
		for _, n := range a.Shape {
			key = binary.AppendUvarint(key, uint64(n))
		}
		if a.Type.Kind == typing.Int {
			for _, x := range a.F {
				key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
			}
		}
	}
	if c.by == nil || len(c.by) > mostCompiled {
		c.by = map[string]*compiledCall{}
	}
	p, ok := c.by[string(key)]
	if !ok {
		p = compileCall(f, call)
		c.by[string(key)] = p
	}
	if p == nil {
		return value.Value{}, false
	}
	k := 0
	for _, a := range call.Args {
		if a.Type.Kind != typing.Int && a.Size() > 0 {
			copy(p.state.Input(k), a.F)
			k++
		}
	}
	if p.state.Run() != nil {
		return value.Value{}, false // the function itself says why
	}
	v := p.v
	v.F = append([]float64(nil), p.state.Output(0)...)
	for _, x := range v.F {
		if math.IsNaN(x) || math.IsInf(x, -1) {
			return v, false
		}
	}
	return v, true
}

func compileCall(f *library.Function, call *library.Call) *compiledCall {
	own := *call
	own.Args = nil
	var inputs []*ad.Node
	for _, a := range call.Args {
		if a.Type.Kind != typing.Int && a.Size() > 0 {
			x := ad.Input("x", a.Shape...)
			inputs = append(inputs, x)
			a = value.Of(a.Type, x, a.Shape...)
		}
		own.Args = append(own.Args, a)
	}
	if len(inputs) == 0 {
		return nil
	}
	v, err := f.Do(&own)
	if err != nil || v.N == nil {
		return nil
	}
	p, err := ad.Compile([]*ad.Node{v.N}, ad.Settings{Inputs: inputs, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil
	}
	return &compiledCall{state: p.NewState(), v: value.Value{Type: v.Type, Shape: v.Shape}}
}
