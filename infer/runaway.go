// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// A parameter runs away where the log density does not fall towards a bound or
// infinity: a chain follows it until numbers end, and a search for the mode never
// stops. It is known by three signs together:
//
//	it is far out, at most 3e-7 from the bound of a scale or a share;
//	the log density rises outward, on average of the draws, though the mean of a
//	gradient over draws from a distribution is 0;
//	the log density rises as evenly on the way there, as that of a power does.
//
// Where it neither rises nor falls over tens of e-folds of a bounded parameter, the
// density of the parameter itself rises, and has no finite integral.
const (
	farOut      = 15.0 // in unconstrained space
	farInSearch = 10.0 // in a search for the mode
	farFlat     = 30.0
	leastUp     = 0.25 // rise per unit
	awayLook    = 32   // draws of a chain that are looked at
	flatFall    = 1.0  // of the log density along a ridge, at most
	mostExact   = 1e12 // distance along a ridge that rounding leaves exact enough
)

// gradient writes the gradient at q into g and returns the log density.
type gradient = func(q, g []float64) (float64, error)

// runaways lists the parameters that have run away, each once.
func (f *Fit) runaways() (found []diag.Runaway) {
	defer func() { _ = recover() }() // of the target: it has done its work
	for k, c := range f.chains {
		rows := c.kept.rows[:min(f.n[k], len(c.kept.rows))]
		for _, i := range farCoordinates(rows) {
			flat, ok := c.away(rows, i)
			name, value := describe(declaredOf(c.target), rows[len(rows)-1], i)
			known := slices.ContainsFunc(found, func(r diag.Runaway) bool { return r.Name == name })
			if ok && !known {
				found = append(found, diag.Runaway{Name: name, Value: value, Chain: k, Flat: flat})
			}
		}
		if r, ok := c.ridge(rows); ok && !slices.ContainsFunc(found, func(o diag.Runaway) bool { return o.Name == r.Name || slices.Contains(o.With, r.Name) }) {
			r.Chain = k
			found = append(found, r)
		}
	}
	return found
}

// ridge looks whether the log density falls along the line on which the draws of a chain lie most widely: from their mean to as far as they reach, and
// ten times as far where rounding lets it be known. A normal distribution falls by 3 within its draws, and by hundreds beyond; a density of the power -1, the
// heaviest tail that has no integral, by 3. A chain that has moved by less than 1 has not run away, but may sit at a jump or a pole.
func (c *chain) ridge(rows [][]float64) (r diag.Runaway, ok bool) {
	n := len(rows)
	if n < 20 {
		return r, false
	}
	mean, widest, reach := make([]float64, len(rows[0])), 0, 0.0
	low, high := slices.Clone(rows[0]), slices.Clone(rows[0])
	for _, q := range rows {
		linalg.AddScaled(mean, 1/float64(n), q)
		for i, x := range q {
			if x < low[i] {
				low[i] = x
			} else if x > high[i] {
				high[i] = x
			}
		}
	}
	for i := range mean {
		if half := (high[i] - low[i]) / 2; half > reach {
			widest, reach = i, half
		}
	}
	along := make([]float64, len(mean)) // of each parameter for one of the widest
	square := 0.0
	for _, q := range rows {
		d := (q[widest] - mean[widest]) / reach
		square += d * d
		for i := range along {
			along[i] += d * (q[i] - mean[i]) / reach
		}
	}
	linalg.Scale(along, 1/square)
	g := make([]float64, len(mean))
	top, err := declaredOf(c.target).LogProbGrad(mean, g)
	if err != nil || !linalg.Finite(top) || !linalg.Finite(reach) || !linalg.Finite(square) || reach < 1 {
		return r, false
	}
	at := make([]float64, len(mean))
	for _, side := range []float64{-1, 1} {
		flat := true
		for far := 1.0; flat && (far == 1 || far == 10 && far*reach < mostExact); far *= 10 {
			copy(at, mean)
			linalg.AddScaled(at, side*far*reach, along)
			lp, err := declaredOf(c.target).LogProbGrad(at, g)
			flat = err == nil && top-lp < flatFall
		}
		if !flat {
			continue
		}
		r.Name, r.Value = describe(declaredOf(c.target), rows[n-1], widest)
		r.Flat = true
		names := coordinates(declaredOf(c.target))
		for i, v := range along {
			if name := names[i]; i != widest && math.Abs(v) > 0.1 && len(r.With) < 3 && name != r.Name && !slices.Contains(r.With, name) {
				r.With = append(r.With, name)
			}
		}
		return r, true
	}
	return r, false
}

// farCoordinates lists the parameters that stay far out on one side.
func farCoordinates(rows [][]float64) (at []int) {
	n := len(rows)
	if n < 20 {
		return nil
	}
	for i, q := range rows[n-1] {
		if math.Abs(q) >= farOut && rows[3*n/4][i]*math.Copysign(1, q) >= farOut {
			at = append(at, i)
		}
	}
	return at
}

// away reports whether parameter i has run away, and whether the log density is
// flat there.
func (c *chain) away(rows [][]float64, i int) (flat, ok bool) {
	up, err := c.outward(rows, i)
	last := rows[len(rows)-1]
	switch first, second := fallsInward(declaredOf(c.target).LogProbGrad, last, i); {
	case up >= leastUp && up >= 4*err && even(first, second):
		return false, true
	case math.Abs(last[i]) >= farFlat && math.Abs(up) < leastUp && nextToBound(declaredOf(c.target), i, last[i]):
		flat = math.Abs(first) < 1 && math.Abs(second) < 1
		return flat, flat
	}
	return false, false
}

// outward returns by how much the log density rises outward along parameter i, on
// average of the second half of the draws, and the standard error.
func (c *chain) outward(rows [][]float64, i int) (mean, err float64) {
	g := make([]float64, len(rows[0]))
	n, square := 0.0, 0.0
	half := len(rows) / 2
	for k := range awayLook {
		q := rows[half+k*(len(rows)-half)/awayLook]
		if _, e := declaredOf(c.target).LogProbGrad(q, g); e != nil || !linalg.Finite(g[i]) {
			continue
		}
		up := g[i] * math.Copysign(1, q[i])
		n++
		mean += up
		square += up * up
	}
	mean /= n
	return mean, math.Sqrt(max(0, square/n-mean*mean) / n)
}

// fallsInward returns by how much the log density falls from q while parameter i
// goes a quarter of the way back, and then another.
func fallsInward(lp gradient, q []float64, i int) (first, second float64) {
	at, g := slices.Clone(q), make([]float64, len(q))
	var v [3]float64
	for k := range v {
		at[i] = q[i] * (1 - float64(k)/4)
		var err error
		if v[k], err = lp(at, g); err != nil {
			return math.NaN(), math.NaN()
		}
	}
	return v[0] - v[1], v[1] - v[2]
}

// even reports whether two falls over equal ways are alike.
func even(first, second float64) bool { return first > 0 && second > 0.5*first && second < 2*first }

// endless returns the parameter along which a search that ended at q would go on
// for ever, or -1.
func endless(lp gradient, q []float64) int {
	g := make([]float64, len(q))
	if _, err := lp(q, g); err != nil {
		return -1
	}
	for i, v := range q {
		if math.Abs(v) >= farInSearch && g[i]*math.Copysign(1, v) >= leastUp && even(fallsInward(lp, q, i)) {
			return i
		}
	}
	return -1
}

func unboundedAt(t Target, q []float64, i int) error {
	name, value := describe(t, q, i)
	return &UnboundedError{Parameter: name, Value: value}
}

// describe returns the name of unconstrained parameter i and its value at q, in the
// constrained form if the target has that.
func describe(t Target, q []float64, i int) (name string, value float64) {
	name, value = coordinates(t)[i], q[i]
	o, ok := t.(Outputs)
	if !ok {
		return name, value
	}
	if k := slices.Index(o.Names(), name); k >= 0 {
		row := make([]float64, o.Len())
		if err := o.Write(q, row); err == nil {
			value = row[k]
		}
	}
	return name, value
}

// nextToBound reports whether parameter i of a model is next to a bound at q.
func nextToBound(t Target, i int, q float64) bool {
	p, ok := declaredOf(t).(*Posterior)
	if !ok {
		return false
	}
	for k, m := range p.model.params {
		if n := p.inputs[k].Size(); i >= n {
			i -= n
			continue
		}
		switch m.transform.Name {
		case "lower", "upper", "interval":
			return true
		case "softplus":
			return q < 0
		}
		return false
	}
	return false
}

// nameRunaway adds the parameter that is farthest out, if one is far, to an error
// about an unbounded density.
func (c *chain) nameRunaway(err error) error {
	far, at, place := farOut, -1, []float64(nil)
	for _, q := range [][]float64{c.tr.Ends[0].Q, c.tr.Ends[1].Q, c.p.Q} {
		for i, v := range q {
			if math.Abs(v) > far {
				far, at, place = math.Abs(v), i, q
			}
		}
	}
	if at < 0 {
		return err
	}
	name, value := describe(c.target, place, at)
	return fmt.Errorf("%w; %s has run to %.2g: %s", err, name, value, diag.AwayFrom(name))
}
