// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Data is the input of a verdict. Only Z is required.
type Data struct {
	// Z holds the standardised residuals, (observed - predicted)/standard deviation,
	// or quantile residuals: independent standard normal numbers if the model is right.
	Z []float64
	// Relative says that Z is known only up to a common factor, because the standard
	// deviation was estimated from the residuals themselves.
	Relative bool
	// Step is the smallest difference between observed values that their decimals can write, in units of Z; 0 if it is not known. It lets few points of
	// unknown errors be judged.
	Step float64
	// SigmaEstimated says that the standard deviations were estimated from how the data scatter, place by place. Neither the size
	// of Z, nor how that varies, nor the heavier tails of the mixture is then evidence against the model, and Z counts as Relative.
	SigmaEstimated bool
	// Jacobian holds the derivatives of predicted/standard deviation with respect to
	// the parameters in Names, column by column: Jacobian[k*len(Z)+i]. A fit adapts to
	// the data along these columns, so they are taken out of Z before it is tested.
	Jacobian []float64
	Names    []string // an empty name is that of a parameter that nobody asks for, such as a coefficient of a continuum
	// Drawn says that Z was evaluated at a draw from a posterior and not at a fit. The part of Z
	// along the Jacobian is then standard normal too, unless priors keep the parameters away from
	// where the data want them.
	Drawn bool
	// Partly says that data enter the log density elsewhere too, so that they, and not priors, may keep the parameters away from where Z wants them.
	Partly bool
	// AtPoint says that Z was evaluated at the very point that the verdict is about, which a fit called a minimum. The part
	// of Z along the Jacobian is then small, unless priors hold the parameters or the loss is robust: a point at which it
	// is not gets a flag, and is judged by all of Z.
	AtPoint bool
	// Penalised says that the fit minimised more than the sum of squares of Z, such as the determinant of what was integrated
	// out. The part of Z along the Jacobian is then not 0 at the minimum, and the caller says by Findings whether the point
	// is one.
	Penalised bool
	// OnBounds is the number of fitted parameters that ended on a bound. They have no columns in the Jacobian, as they did not
	// adapt to the data, but take away a degree of freedom, as in the reduced chi-square of the fit.
	OnBounds int
	// Many says that there were too many parameters to take out of Z: residuals that are too small
	// are then expected and not judged.
	Many bool
	Mean []float64 // predicted values, for a spread that varies with them; nil if unknown
	// Sigma holds the standard deviations that Z was divided by; nil if unknown. If they were
	// computed from the observed values, as those of a percentage of the reading are, Z is rescaled
	// to what they would be at the predicted values, except where SigmaFitted is set.
	Sigma []float64
	// Counts says that Z are quantile residuals of counts: their size measures the scatter of the
	// distribution and not errors.
	Counts bool
	// Quantiles says that Z are quantile residuals of a distribution that is not normal.
	Quantiles bool
	// SigmaFitted says that the standard deviations depend on parameters: the reduced
	// chi-square is not quoted. If they are free, it tells nothing.
	SigmaFitted bool

	rescaled bool // whether Z was rescaled to errors at the predicted values

	Labels []string // names of the residuals, such as those of groups; nil for their indices
	Axes   []Axis   // variables along which Z was measured; if there are none, the order of Z
	Grid   *Grid    // places on a detector, whose neighbours are compared; nil for a sequence
	// Directions are departures from the model that can be named.
	Directions []Direction
	Altered    []Alteration // data left out or changed before the fit
	Bounds     []Bound      // parameters that the fit ended on
	Priors     []Prior      // positions of the parameters or their draws in their priors
	Unknown    []string     // combinations of parameters that the data do not determine
	Findings   []Flag       // flags that the caller found by itself and wants in the verdict
	// Robust says that the loss of the fit reduced the weight of outliers: they are noted, but not
	// held against the model.
	Robust bool
}

// Axis is a variable along which residuals are ordered.
type Axis struct {
	Name, Unit string
	Values     []float64 // value of the variable for each residual
	Levels     []string  // names of the values 1, 2, ... of a variable that has no numbers; nil for one that has
}

// Names of axes that count: the axis of residuals without any other, and the start of the names of orders.
const (
	pointAxis = "point"
	orderOf   = "the order of "
)

// title is the name of the axis inside a sentence.
func (a Axis) title() string {
	if a.Name == pointAxis {
		return orderOf + "the points"
	}
	return a.Name
}

// label formats a range of values with the unit.
func (a Axis) label(lo, hi float64) string {
	unit := ""
	if a.Unit != "" {
		unit = " " + a.Unit
	}
	switch order := strings.HasPrefix(a.Name, orderOf); {
	case a.Levels != nil && lo == hi:
		return fmt.Sprintf("%s = %s", a.Name, a.level(lo))
	case a.Levels != nil:
		return fmt.Sprintf("%s = %s to %s", a.Name, a.level(lo), a.level(hi))
	case a.Name == pointAxis && lo == hi:
		return fmt.Sprintf("point %.6g", lo)
	case a.Name == pointAxis:
		return fmt.Sprintf("points %.6g to %.6g", lo, hi)
	case order && lo == hi:
		return fmt.Sprintf("place %.6g in %s", lo, a.Name)
	case order:
		return fmt.Sprintf("places %.6g to %.6g in %s", lo, hi, a.Name)
	case lo == hi:
		return fmt.Sprintf("%s = %s%s", a.Name, a.number(lo, 0), unit)
	}
	return fmt.Sprintf("%s = %s to %s%s", a.Name, a.number(lo, (hi-lo)/10), a.number(hi, (hi-lo)/10), unit)
}

// level is the name of a value of a variable without numbers.
func (a Axis) level(x float64) string {
	if k := int(x) - 1; k >= 0 && k < len(a.Levels) {
		return a.Levels[k]
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// number writes a value with as many digits as tell it apart from the next one on the axis, but not finer than fine, and with three at
// least.
func (a Axis) number(x, fine float64) string {
	apart := math.Inf(1)
	for _, v := range a.Values {
		if d := math.Abs(v - x); d > 0 {
			apart = min(apart, d)
		}
	}
	apart = max(apart, fine)
	digits := 3
	if ratio := math.Abs(x) / apart; ratio > 100 {
		digits = min(10, int(math.Ceil(math.Log10(ratio)))+1)
	}
	text := strconv.FormatFloat(x, 'g', digits, 64)
	if size := math.Abs(x); size >= 1 && size < 1e7 {
		rounded, _ := strconv.ParseFloat(text, 64)
		text = strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return text
}

// Grid says where residuals lie on a regular grid, such as [energy, y, x].
type Grid struct {
	Shape []int
	Names []string // names of the axes
	Index []int    // row-major place of each residual, ascending
}

// Direction is a departure from the model that can be named: the derivative of predicted/standard
// deviation with respect to one or more coefficients that the model fixes at 0.
type Direction struct {
	Kind    string // name of the departure, such as "beam centre"
	Of      string // distinction from other departures of the same name, such as "near 0.1 s"
	Columns [][]float64
	// Known says that the coefficient of the only column is 1, as is known from elsewhere, so that it is not for the residuals to say.
	Known bool
	// Expected says that the departure is known to be there, of a size that makes the coefficient of the only column about 1: where it
	// explains at least half of what another named departure does, it is the one that is named, without rivals.
	Expected bool
	// Tried is the number of alternatives among which the columns were chosen because they explain most; 0 and 1 for columns
	// that do not depend on the residuals. The p-value is multiplied by it (Bonferroni).
	Tried int
	// Say describes the departure in one clause, given the coefficients and their
	// standard deviations, and says what to try.
	Say func(coef, sd []float64) (text, remedy string)
	// Holds reports whether the columns still describe the departure at these coefficients; nil
	// means at any. If they do not, the departure is not named as the cause.
	Holds func(coef []float64) bool
}

// Alteration says what was done to the data before the fit.
type Alteration struct {
	Kind  string // kind of alteration, such as "zero errors"
	Count int    // number of points altered
	Text  string // description of what was done and why
	// Remedy is what to try instead, if anything.
	Remedy string
	// Note says that the user asked for it, for example by a mask: it is noted and not flagged.
	Note bool
}

// Bound is a parameter that ended on one of its bounds.
type Bound struct {
	Name         string
	Value, Limit float64
	Pull         float64 // distance beyond the bound to which the data would take it, in standard deviations
}

// Prior is the position of a parameter in its prior.
type Prior struct {
	Name, Distribution string
	Value              float64 // posterior median, or the estimate
	P                  float64 // two-sided tail probability of the prior beyond Value
	// Draws is the number of draws from the prior among which Value was ranked to find P, for a distribution without a
	// CDF; 0 for the others.
	Draws int
	Weak  bool // true if the prior is a default that nobody chose
	// Score is the normal score of the parameter in its prior at a draw; Scale is the shift for one
	// unit of the score, in the coordinate Coordinate of the Jacobian. With them, P refers to prior
	// and data together, see Data.Drawn.
	Score, Scale float64
	Coordinate   string
	Shift        float64 // distance by which the prior moved the estimate, in posterior standard deviations

	together float64 // p-value of prior and data together; NaN if it was not computed
}

// check returns an error for arguments that are inconsistent, and for numbers that are not finite.
func (d *Data) check() error {
	n := len(d.Z)
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("check: "+format, a...)) }
	for i, z := range d.Z {
		if math.IsNaN(z) {
			bad("residual %d is NaN: leave the point out", i)
			break
		}
	}
	if len(d.Jacobian) != n*len(d.Names) {
		bad("the Jacobian has %d numbers for %d residuals and %d parameters: want %d", len(d.Jacobian), n, len(d.Names), n*len(d.Names))
	} else if i := slices.IndexFunc(d.Jacobian, notFinite); i >= 0 {
		bad("the derivative of residual %d with respect to %s is %g: leave the point or the parameter out", i%n, d.Names[i/n], d.Jacobian[i])
	}
	vector := func(what, name string, v []float64, wrong func(float64) bool, want string) {
		if len(v) != n {
			bad("%s%s has %s for %d residuals: want one for each", what, name, errtext.Count(len(v), "value"), n)
		} else if i := slices.IndexFunc(v, wrong); i >= 0 {
			bad("%s%s[%d] is %g: want %s", what, name, i, v[i], want)
		}
	}
	for _, a := range d.Axes {
		vector("axis ", a.Name, a.Values, math.IsNaN, "a number, or leave the point out")
	}
	if d.Mean != nil {
		vector("Mean", "", d.Mean, notFinite, "finite numbers")
	}
	if d.Sigma != nil {
		vector("Sigma", "", d.Sigma, func(v float64) bool { return !(v > 0) }, "numbers above 0")
	}
	if d.Labels != nil && len(d.Labels) != n {
		bad("Labels has %s for %d residuals: give one for each", errtext.Count(len(d.Labels), "value"), n)
	}
	for _, dir := range d.Directions {
		if dir.Say == nil {
			bad("direction %s has no Say: set this function", dir.Kind)
		}
		for _, c := range dir.Columns {
			vector("direction ", dir.Kind, c, notFinite, "finite numbers")
		}
	}
	if d.Grid != nil {
		errs = append(errs, d.Grid.check(n))
	}
	for _, b := range d.Bounds {
		if math.IsNaN(b.Pull) {
			bad("the pull of bound %s is NaN: want a number of standard deviations", b.Name)
		}
	}
	for _, p := range d.Priors {
		if !(p.P >= 0 && p.P <= 1) || math.IsNaN(p.Shift) {
			bad("the prior of %s has tail probability %g and shift %g: want a probability and a number", p.Name, p.P, p.Shift)
		}
	}
	return errors.Join(errs...)
}

// check returns an error for places outside the grid.
func (g *Grid) check(n int) error {
	size := 1
	for _, k := range g.Shape {
		if k < 1 || size > math.MaxInt/k {
			return fmt.Errorf("check: the grid has shape %v: want lengths above 0 whose product fits an int", g.Shape)
		}
		size *= k
	}
	if len(g.Names) != len(g.Shape) || len(g.Index) != n {
		return fmt.Errorf("check: the grid has %d axes with %d names, and %d places for %d residuals: give one name for each axis and one place for each residual", len(g.Shape), len(g.Names), len(g.Index), n)
	}
	last := -1
	for k, i := range g.Index {
		if i <= last || i >= size {
			return fmt.Errorf("check: place %d of the grid is %d: want places in ascending order, below %d", k, i, size)
		}
		last = i
	}
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
