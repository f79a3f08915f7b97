// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// InUnits are the units, powers of ten, in which a problem is fitted whose numbers have no squares among 64-bit numbers.
type InUnits struct {
	*Problem
	// Units are those of columns and of parameters, by name. A parameter is its fitted value times its unit.
	Units map[string]float64
}

// Rescaled returns the problem in units in which sums of squares are 64-bit numbers, or nil if that is what they are, or if the formula has no such units: it must stay the same if columns and
// parameters change theirs together, as a*exp(-t/tau) does, and 1 + b*t does not.
func (p *Problem) Rescaled() *InUnits {
	columns := p.outOfRange()
	plain := len(p.Priors)+len(p.Tied)+len(p.Derived)+len(p.SigmaX)+len(p.Flat) == 0 && p.Cov == nil && !p.Implicit && p.ScaleError+p.OffsetError+p.AR1 == ""
	if len(columns) == 0 || !plain {
		return nil
	}
	out := &InUnits{Units: map[string]float64{}}
	exponents := map[string]float64{} // of ten, by parameter
	for _, name := range columns {
		values := p.Data[name].Values
		ten := math.Floor(math.Log10(linalg.MaxAbs(values)))
		own := p.exponents(name)
		if own == nil || ten < -308 {
			return nil
		}
		out.Units[name] = powerOfTen(ten)
		for parameter, k := range own {
			exponents[parameter] += k * ten
		}
	}
	for parameter, ten := range exponents {
		unit := powerOfTen(math.Round(ten))
		if unit == 0 || math.IsInf(unit, 1) {
			return nil
		}
		out.Units[parameter] = unit
	}
	out.Problem = p.in(out.Units)
	for name, c := range out.Data {
		for i, v := range c.Values {
			if v == 0 && p.Data[name].Values[i] != 0 { // beside values that are larger by hundreds of orders
				return nil
			}
		}
	}
	if again := out.Problem.outOfRange(); len(again) > 0 {
		return nil
	}
	return out
}

// powerOfTen is the 64-bit number next to a power of ten, 0 or infinite where there is none. That of math.Pow may be the second next.
func powerOfTen(exponent float64) float64 {
	x, _ := strconv.ParseFloat(fmt.Sprintf("1e%.0f", exponent), 64)
	return x
}

// outOfRange lists the columns of y and of the formula whose squares are no 64-bit numbers.
func (p *Problem) outOfRange() (columns []string) {
	f, err := p.formula()
	if err != nil {
		return nil
	}
	for _, name := range append([]string{p.Y}, f.Names()...) {
		if c, ok := p.Data[name]; ok && c.Labels == nil && linalg.AllFinite(c.Values) && p.inRange(name, c.Values) != nil {
			columns = append(columns, name)
		}
	}
	return columns
}

// in returns the problem in other units of columns and parameters. Errors have the unit of y.
func (p *Problem) in(units map[string]float64) *Problem {
	out := *p
	out.Data, out.Start, out.Fixed, out.Bounds = maps.Clone(p.Data), maps.Clone(p.Start), maps.Clone(p.Fixed), maps.Clone(p.Bounds)
	divided := func(values []float64, unit float64) []float64 {
		values = slices.Clone(values)
		for i := range values {
			values[i] /= unit
		}
		return values
	}
	for name, unit := range units {
		if c, column := p.Data[name]; column {
			out.Data[name] = Column{Values: divided(c.Values, unit)}
		}
		if name == p.Y && p.Sigma != "" {
			out.Data[p.Sigma] = Column{Values: divided(p.Data[p.Sigma].Values, unit)}
		}
		if v, ok := p.Start[name]; ok {
			out.Start[name] = divided(v, unit)
		}
		if v, ok := p.Fixed[name]; ok {
			out.Fixed[name] = v / unit
		}
		if b, ok := p.Bounds[name]; ok {
			out.Bounds[name] = Bounds(divided(b[:], unit))
		}
	}
	return &out
}

// Sizes of the samples from which exponents are found, and the step of logarithms for derivatives.
const (
	unitRows   = 24
	unitPlaces = 8
	unitStep   = 1e-4
)

// exponents are the powers of the unit of a column by which the parameters have to grow for the formula to follow: for y to grow by this unit, and for any other column to stay as it is. It is nil
// where there are none.
//
// A formula f with f(t^k p, t x) = t^u f(p, x) fulfils sum k p df/dp + x df/dx = u f (Euler). Its logarithmic derivatives at random places give k by least squares.
func (p *Problem) exponents(column string) map[string]float64 {
	f, err := p.formula()
	if err != nil {
		return nil
	}
	random := tensor.NewStream(1, purposeUnits, 0)
	grown := func(by float64) *Problem { // the formula at random places of columns
		own := &Problem{Expr: p.Expr, Y: "0", Data: map[string]Column{}, Start: map[string]Values{}}
		random := tensor.NewStream(2, purposeUnits, 0)
		for _, name := range f.Names() {
			c, isColumn := p.Data[name]
			switch {
			case isColumn && c.Labels != nil:
				return nil
			case !isColumn:
				own.Start[name] = Values{1}
				continue
			}
			x := make([]float64, unitRows)
			for i := range x {
				x[i] = 0.5 + 1.5*random.Float64()
				if name == column {
					x[i] *= math.Exp(by)
				}
			}
			own.Data[name] = Column{Values: x}
		}
		return own
	}
	var at [3]func(out, x []float64) error
	var names []string
	for i, by := range []float64{0, unitStep, -unitStep} {
		own := grown(by)
		if own == nil {
			return nil
		}
		least, _, err := own.leastSquares(nil)
		if err != nil || least.N > unitRows {
			return nil
		}
		at[i], names = least.Residual, least.Names
	}
	value := func(which int, x []float64) []float64 {
		out := make([]float64, unitRows)
		if at[which](out, x) != nil || !linalg.AllFinite(out) {
			return nil
		}
		return out
	}
	slope := func(up, down []float64, i int) float64 { return (up[i] - down[i]) / (2 * unitStep) }
	a, b := mat.NewDense(unitRows*unitPlaces, len(names), nil), make([]float64, unitRows*unitPlaces)
	for place := range unitPlaces {
		x := make([]float64, len(names))
		for i := range x {
			x[i] = 0.5 + 1.5*random.Float64()
		}
		middle, up, down := value(0, x), value(1, x), value(2, x)
		if middle == nil || up == nil || down == nil {
			return nil
		}
		for i := range middle {
			b[place*unitRows+i] = -slope(up, down, i)
			if column == p.Y {
				b[place*unitRows+i] += middle[i]
			}
		}
		for k := range x {
			own := slices.Clone(x)
			own[k] = x[k] * math.Exp(unitStep)
			up := value(0, own)
			own[k] = x[k] * math.Exp(-unitStep)
			down := value(0, own)
			if up == nil || down == nil {
				return nil
			}
			for i := range up {
				a.Set(place*unitRows+i, k, slope(up, down, i))
			}
		}
	}
	return homogeneous(a, b, names)
}

// purposeUnits is the random stream of exponents.
const purposeUnits uint32 = 164

// homogeneous solves for exponents, which have to be multiples of a half.
func homogeneous(a *mat.Dense, b []float64, names []string) map[string]float64 {
	k := shortest(mat.DenseCopyOf(a), b)
	if k == nil {
		return nil
	}
	out := map[string]float64{}
	for i := range k {
		k[i] = math.Round(2*k[i]) / 2
		out[names[i]] = k[i]
	}
	var left mat.VecDense
	left.MulVec(a, mat.NewVecDense(len(k), k))
	for i, v := range b {
		if math.Abs(left.AtVec(i)-v) > 1e-5*max(1, math.Abs(v)) {
			return nil
		}
	}
	return out
}

// Told says in which units the fit was made.
func (u *InUnits) Told() string {
	y := u.Units[u.Y]
	if y == 0 {
		return "the fit was made with other units of columns inside, as the squares of their values are no 64-bit numbers; results are in those of the table, but for pictures"
	}
	return fmt.Sprintf("the fit was made with %s in units of %g, as squares are no 64-bit numbers otherwise; results are in the units of the table, but for sums of squares, covariances and pictures", u.Y, y)
}
