// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// Register adds a user's distribution to All, so that ByName, Parse, formulas with priors and the command
// line know its name. It is meant for init functions, and panics if the definition is incomplete or the name is
// taken. It tries the functions of the distribution at a few numbers only; package disttest checks the definition.
func Register(f Family) {
	var lacks []string
	for _, part := range []struct {
		name    string
		missing bool
	}{{"Name", f.Name == ""}, {"Make", f.Make == nil}, {"Want for each of Params", len(f.Params) != len(f.Want)}, {"At with parameters for checks", len(f.At) == 0}} {
		if part.missing {
			lacks = append(lacks, part.name)
		}
	}
	switch {
	case len(lacks) > 0:
		panic(fmt.Sprintf("dist: the family %q is incomplete: set %s", f.Name, strings.Join(lacks, ", ")))
	case strings.Trim(f.Name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || f.Name[0] <= '9':
		panic(fmt.Sprintf("dist: the family %q cannot have this name: use lower case letters a to z and digits, and begin with a letter; case, _ and - are ignored when names are read", f.Name))
	}
	if _, taken := named(f.Name); taken {
		panic(fmt.Sprintf("dist: there is a distribution %q already: give yours a name of its own", f.Name))
	}
	if err := f.wrong(); err != nil {
		panic(fmt.Sprintf("dist: the family %q cannot be used: %v", f.Name, errtext.Without("dist: ", err)))
	}
	f.registered = true
	register(f)
}

// wrong finds parameters At that do not fit the definition, and distributions without a density.
func (f Family) wrong() error {
	if f.Shapes == nil {
		for _, p := range f.At {
			if len(p) != len(f.Params) {
				return fmt.Errorf("At has %v: want %s, one for each of the parameters %v", p, errtext.Count(len(f.Params), "number"), f.Params)
			}
			for i, v := range p {
				if x, bad := f.Want[i].misfit([]float64{v}); bad {
					return fmt.Errorf("At has %s = %g: want %s, as Want says", f.Params[i], x, f.Want[i].words())
				}
			}
		}
	}
	if err := f.conditions(); err != nil {
		return err
	}
	if err := f.rule(); err != nil {
		return err
	}
	made := f.made()
	if made.LogProbOf == nil && made.check == nil {
		return fmt.Errorf("Make returned a distribution without LogProbOf at the parameters %v: set it", f.At[0])
	}
	if err := made.Err(); err != nil {
		return err
	}
	if made.Name == "" {
		return fmt.Errorf("Make returned a distribution without Name: set it to %q", f.Name)
	}
	if _, known := named(made.Name); !known && made.Name != f.Name && made.remake == nil {
		return fmt.Errorf("Make returned a distribution with the Name %q: set it to %q, the name of the family", made.Name, f.Name)
	}
	return f.fits(made)
}

// conditions finds an Order of unknown parameters or that At violates, and Arrays that are not one for each parameter.
func (f Family) conditions() error {
	if f.Arrays != nil && len(f.Arrays) != len(f.Params) {
		return fmt.Errorf("Arrays has %d entries: want %d, one for each of the parameters %v", len(f.Arrays), len(f.Params), f.Params)
	}
	for _, o := range f.Order {
		for _, name := range []string{o.Low, o.High} {
			if !slices.Contains(f.Params, name) {
				return fmt.Errorf("Order names %q: want names of the parameters %v", name, f.Params)
			}
		}
	}
	if f.Shapes != nil {
		return nil
	}
	for _, p := range f.At {
		if fault := f.disordered(p); fault != "" {
			return fmt.Errorf("At has the parameters %v: want %s, as Order says", p, fault)
		}
	}
	return nil
}

// rule tries Rule where nothing is violated, and where no number is known yet.
func (f Family) rule() error {
	if f.Rule == nil {
		return nil
	}
	defer f.blame("Rule")
	unknown := make([]float64, len(f.Params))
	for i := range unknown {
		unknown[i] = math.NaN()
	}
	f.Rule(unknown)
	if f.Shapes != nil {
		return nil
	}
	for _, p := range f.At {
		if fault := f.Rule(slices.Clone(p)); fault != "" {
			return fmt.Errorf("At has the parameters %v: want %s, as Rule says", p, fault)
		}
	}
	return nil
}

// made makes the distribution at the first of At. A panic names the family.
func (f Family) made() Dist {
	defer f.blame("Make")
	return f.New(f.At[0]...)
}

// blame turns the panic of a function of the definition into one that names it.
func (f Family) blame(what string) {
	if r := recover(); r != nil {
		panic(fmt.Sprintf("dist: the family %q cannot be used: its %s panics at the parameters %v: %v", f.Name, what, f.At[0], r))
	}
}

// fits calls the functions of a distribution for an array of values, and reports results of the wrong shape and draws
// outside the support.
func (f Family) fits(d Dist) error {
	if len(f.Value) != d.Event {
		return fmt.Errorf("Make returned a distribution with Event %d, but Value is %v: set Value to the shape of one value, with %d axes", d.Event, f.Value, d.Event)
	}
	batch, _ := d.batchOfParams()
	shape := append(append([]int{2}, batch...), f.Value...)
	if err := f.density(d, shape); err != nil {
		return err
	}
	if !d.Discrete && d.TransformOf != nil {
		if err := f.transforms(d, shape); err != nil {
			return err
		}
	}
	if f.Shapes == nil && d.Event == 0 && len(d.Params) == len(f.Params) {
		if err := f.tails(d); err != nil {
			return err
		}
	}
	if !d.CanDraw() {
		return nil
	}
	return f.draws(d, shape)
}

func (f Family) density(d Dist, shape []int) error {
	defer f.blame("LogProbOf")
	return d.LogProb(ad.Input("x", shape...)).Err()
}

func (f Family) transforms(d Dist, shape []int) error {
	defer f.blame("TransformOf")
	t := d.Transform()
	free, err := t.FreeShape(shape...)
	if err != nil {
		return err
	}
	y, logJ := t.Apply(ad.Input("x", free...), shape...)
	if err := cmp.Or(y.Err(), logJ.Err()); err != nil || d.Event > 0 || t.Event > 0 || f.Shapes != nil {
		return err
	}
	for _, x := range []float64{-1.3, 0.4, 1.7} {
		if err := f.transformsAt(d, t, x); err != nil {
			return err
		}
	}
	return nil
}

// transformsAt compares the log Jacobian of a transform of numbers at x with differences, and its y with the support.
func (f Family) transformsAt(d Dist, t Transform, x float64) error {
	const h = 1e-4
	_, logJ := t.Apply(ad.Const([]float64{x}), 1)
	y, _ := t.Apply(ad.Const([]float64{x - 2*h, x - h, x, x + h, x + 2*h}), 5)
	values, err := ad.Numbers(y, logJ)
	if err != nil {
		return err
	}
	at, got := values[0], values[1][0]
	p, err := Numbers(d)
	if err != nil {
		return nil // a parameter is not a constant
	}
	if k, err := d.Outside(at[2:3], []int{1}, p); err != nil || k >= 0 {
		return cmp.Or(err, fmt.Errorf("the transform %q maps %g to %g: want %s, as Support says", t.Name, x, at[2], d.Support.words()))
	}
	slope := (8*(at[3]-at[1]) - (at[4] - at[0])) / (12 * h)
	if want := math.Log(math.Abs(slope)); !(math.Abs(got-want) <= 1e-4*(1+math.Abs(want))) {
		return fmt.Errorf("Constrain of the transform %q returned the log Jacobian %.6g at %g, but differences of y give %.6g: return the logarithm of |dy/dx|", t.Name, got, x, want)
	}
	bounds := make([][]float64, len(t.Bounds))
	for i, b := range t.Bounds {
		v, ok := constant(b)
		if !ok {
			return nil
		}
		bounds[i] = v
	}
	back, err := t.Unconstrain(at[2:3], []int{1}, 0, bounds...)
	if err == nil && !(math.Abs(back[0]-x) <= 1e-6*(1+math.Abs(x))) {
		err = fmt.Errorf("Inverse of the transform %q maps %g to %g, but Constrain maps %g to it", t.Name, at[2], back[0], x)
	}
	return err
}

// rounding is the error that a distribution function may have.
const rounding = 1e-9

// tails tries the distribution function at some numbers.
func (f Family) tails(d Dist) error {
	if d.CDFOf == nil {
		return nil
	}
	x, below := f.numbers(d), 0.0
	for i, v := range x {
		u := f.cdf(d, v)
		switch {
		case !(u >= -rounding && u <= 1+rounding):
			return fmt.Errorf("its CDFOf returned %g at %g with the parameters %v: want a probability from 0 to 1", u, v, f.At[0])
		case u < below-rounding:
			return fmt.Errorf("its CDFOf decreases from %g at %g to %g at %g with the parameters %v: want the probability of a value of at most x", below, x[i-1], u, v, f.At[0])
		}
		below = u
	}
	for _, tail := range []struct {
		name string
		of   func(x *ad.Node) *ad.Node
		want func(u float64) float64
	}{{"LogCDFOf", d.LogCDFOf, func(u float64) float64 { return u }}, {"LogCCDFOf", d.LogCCDFOf, func(u float64) float64 { return 1 - u }}} {
		if tail.of == nil {
			continue
		}
		log, err := f.logTail(d, tail.name, x)
		if err != nil {
			return err
		}
		for i, v := range x {
			if want := tail.want(f.cdf(d, v)); !(math.Abs(math.Exp(log[i])-want) <= 1e-6) {
				return fmt.Errorf("its %s returned %g at %g with the parameters %v, which is the probability %g, but by CDFOf it is %g: correct one of them", tail.name, log[i], v, f.At[0], math.Exp(log[i]), want)
			}
		}
	}
	return nil
}

func (f Family) cdf(d Dist, x float64) float64 {
	defer f.blame("CDFOf")
	return d.CDF(x, f.At[0])
}

func (f Family) logTail(d Dist, name string, x []float64) ([]float64, error) {
	defer f.blame(name)
	n := d.LogCDF(ad.Const(x))
	if name == "LogCCDFOf" {
		n = d.LogCCDF(ad.Const(x))
	}
	values, err := ad.Numbers(n)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// numbers returns numbers inside the support, in increasing order: draws, or, where there are none, numbers at all
// distances from its ends and from 0.
func (f Family) numbers(d Dist) (x []float64) {
	lo, hi := d.ends(f.At[0])
	if d.RandOf != nil {
		x = f.drawn(d)
	}
	for _, s := range []float64{1e-3, 0.1, 0.5, 1, 2, 5, 20, 1e3} {
		switch {
		case !math.IsInf(hi-lo, 0):
			x = append(x, lo+s/(1+s)*(hi-lo))
		case !math.IsInf(lo, 0):
			x = append(x, lo+s)
		case !math.IsInf(hi, 0):
			x = append(x, hi-s)
		default:
			x = append(x, -s, s)
		}
	}
	if d.Discrete {
		for i, v := range x {
			x[i] = math.Floor(v)
		}
	}
	x = slices.DeleteFunc(x, func(v float64) bool { return !(v >= lo && v <= hi) })
	slices.Sort(x)
	return slices.Compact(x)
}

func (f Family) drawn(d Dist) (x []float64) {
	defer f.blame("RandOf")
	src := tensor.NewStream(2, 0, 0)
	for range 20 {
		x = append(x, d.Rand(&src, f.At[0]))
	}
	return x
}

func (f Family) draws(d Dist, shape []int) error {
	defer f.blame(d.drawer())
	src, x, p := tensor.NewStream(1, 0, 0), make([]float64, tensor.Shape(shape).Size()), make([][]float64, len(d.Params))
	for i, n := range d.Params {
		v, ok := constant(n)
		if !ok {
			return nil
		}
		p[i] = v
	}
	if err := d.Fill(&src, x, shape, p); err != nil {
		return err
	}
	if k := slices.IndexFunc(x, math.IsNaN); k >= 0 {
		return fmt.Errorf("its %s drew NaN at the parameters %v: want numbers", d.drawer(), f.At[0])
	}
	if d.Event > 0 {
		return nil
	}
	k, err := d.Outside(x, shape, p)
	if err == nil && k >= 0 {
		err = fmt.Errorf("its RandOf drew %g at the parameters %v: want %s, as Support and Discrete say", x[k], f.At[0], d.Support.words())
	}
	return err
}
