// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/models/stan/internal/stage"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/tensor"
)

// StartSettings say where chains start.
type StartSettings struct {
	// Values are initial values of parameters, which need not be all: one for all chains, or one for each.
	Values []Data
	// Radius bounds the other unconstrained parameters, which are uniform within it. Default 2; below 0 they are 0.
	Radius float64
	Chains int
	Seed   uint64
}

// purposeStarts is that of the random stream of starts.
const purposeStarts = 3

// mostTries is how many random starts are tried until the density is finite.
const mostTries = 100

// Starts returns an unconstrained start for each chain, where the density is finite.
func (p *Posterior) Starts(s StartSettings) (starts [][]float64, err error) {
	if n := len(s.Values); n > 1 && n != s.Chains {
		return nil, fmt.Errorf("stan: there are initial values for %d chains, and %d chains: give as many, or one set for all", n, s.Chains)
	}
	if s.Radius == 0 {
		s.Radius = 2
	}
	for c := range s.Chains {
		given := slices.Repeat([]float64{math.NaN()}, p.dim)
		if len(s.Values) > 0 {
			if given, err = p.Unconstrain(s.Values[min(c, len(s.Values)-1)]); err != nil {
				return nil, err
			}
		}
		random := tensor.NewStream(s.Seed, purposeStarts, uint32(c))
		q, err := p.fill(given, s.Radius, &random)
		if err != nil {
			return nil, fmt.Errorf("stan: chain %d: %w", c+1, err)
		}
		starts = append(starts, q)
	}
	return starts, nil
}

// fill draws the numbers that are not given until the density is finite.
func (p *Posterior) fill(given []float64, radius float64, random *tensor.Stream) ([]float64, error) {
	free := slices.ContainsFunc(given, math.IsNaN) && radius > 0
	g := make([]float64, p.dim)
	var last error
	var q []float64
	for range mostTries {
		q = slices.Clone(given)
		for i, x := range q {
			if math.IsNaN(x) {
				q[i] = max(0, radius) * (2*random.Float64() - 1)
			}
		}
		lp, err := p.LogProbGrad(q, g)
		if err == nil && !math.IsInf(lp, 0) && !slices.ContainsFunc(g, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			return q, nil
		}
		if last = err; !free {
			break
		}
	}
	if last != nil {
		return nil, fmt.Errorf("the initial values are rejected: %w", last)
	}
	why := p.Explain(q)
	if why != "" {
		why = " (" + why + ")"
	}
	if !free {
		return nil, fmt.Errorf("the log density of the initial values is not finite%s: choose values that the data and the priors allow", why)
	}
	return nil, fmt.Errorf("the log density is not finite at any of %d random starts with the initial values%s: give more of them, or a smaller radius", mostTries, why)
}

// Unconstrain returns the unconstrained numbers of values of parameters, with NaN for those of parameters that have none.
func (p *Posterior) Unconstrain(d Data) ([]float64, error) {
	block := p.program.tree.Blocks[syntax.Parameters]
	if block == nil {
		return nil, errors.New("stan: the program has no parameters, so that there is nothing to start from: declare one")
	}
	known := map[string]bool{}
	m := p.machine.Draw(stage.NewKept())
	for _, x := range block.List {
		m.Forget(x.(*syntax.Declare).Name)
	}
	var all []float64
	for i, x := range block.List {
		decl, q := x.(*syntax.Declare), p.params[i]
		known[decl.Name] = true
		if d[decl.Name] == nil {
			all = append(all, slices.Repeat([]float64{math.NaN()}, q.Free)...)
			continue
		}
		v, err := d.param(decl.Name, decl.Unsized, q)
		if err == nil {
			m.Set(decl.Name, decl.Unsized, v)
			var u []float64
			u, err = m.Free(q, v)
			all = append(all, u...)
		}
		if err != nil {
			return nil, fmt.Errorf("stan: the initial value of %s: %w", decl.Name, err)
		}
	}
	for name := range d {
		if !known[name] && !p.output(name) {
			return nil, fmt.Errorf("stan: there is an initial value for %s, which is no parameter of the program: rename it to one, or leave it out", name)
		}
	}
	return all, nil
}

// output says whether a name is that of a variable of the output, such as a transformed parameter, which files of initial values may have.
func (p *Posterior) output(name string) bool {
	return slices.ContainsFunc(p.columns, func(c column) bool { return c.name == name })
}

// Values returns the parameters at an unconstrained point as Unconstrain and files of initial values have them.
func (p *Posterior) Values(q []float64) (Data, error) {
	row := make([]float64, p.Len())
	if err := p.Write(q, row); err != nil {
		return nil, err
	}
	r := &rowReader{p.columns, row}
	d := Data{}
	for _, q := range p.params {
		d[q.Decl.Name] = r.value(q, q.Decl.Unsized)
	}
	return d, nil
}

// rowReader takes the values of variables from a row of the output, in order.
type rowReader struct {
	columns []column
	row     []float64
}

// column takes the next column.
func (r *rowReader) column() (a array) {
	c := r.columns[0]
	a.shape = c.shape
	for _, x := range r.row[:len(c.order)] {
		a.numbers = append(a.numbers, asJSON(x))
	}
	r.columns, r.row = r.columns[1:], r.row[len(c.order):]
	return a
}

// value takes the columns of a parameter.
func (r *rowReader) value(q stage.Param, t typing.Type) json.RawMessage {
	switch {
	case t.Kind == typing.Tuple && t.Dims > 0:
		var list []json.RawMessage
		each := len(q.Parts) / max(1, q.Shape[0])
		for i := range q.Shape[0] {
			e := stage.Param{Shape: q.Shape[1:], Parts: q.Parts[i*each : (i+1)*each]}
			if t.Dims == 1 {
				e = q.Parts[i]
			}
			list = append(list, r.value(e, t.Element()))
		}
		return joined("[", list, "]")
	case t.Kind == typing.Tuple:
		var list []json.RawMessage
		for i, e := range t.Elems {
			list = append(list, json.RawMessage(fmt.Sprintf("%q:%s", strconv.Itoa(i+1), r.value(q.Parts[i], e))))
		}
		return joined("{", list, "}")
	case t.Kind.IsComplex(): // pairs of the real and the imaginary part
		re, im := r.column(), r.column()
		return array{append(re.numbers, im.numbers...), append(slices.Clone(re.shape), 2)}.json()
	}
	return r.column().json()
}

func joined(open string, list []json.RawMessage, shut string) json.RawMessage {
	return json.RawMessage(open + string(bytes.Join(raws(list), []byte(","))) + shut)
}

func raws(list []json.RawMessage) (out [][]byte) {
	for _, e := range list {
		out = append(out, e)
	}
	return out
}
