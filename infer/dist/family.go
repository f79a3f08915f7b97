// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/tensor"
)

// Family describes one entry of All: how to make the distribution from its parameters,
// and the parameter values that tables, commands and checks use.
type Family struct {
	Name   string
	Params []string  // names of the parameters, in order
	Want   []Support // range allowed for the elements of each parameter
	// Arrays says which arrays the parameters with axes of their own may be; nil if any.
	Arrays []Array
	// Order lists conditions on pairs of parameters, such as low < high. Like Want and Arrays, it is checked for constants
	// by Err, and when a graph runs by LogProb, which is -Inf where a parameter is out of its range.
	Order []Order
	// Holds is a condition beyond Want, Arrays and Order when a graph runs: 1 where it holds, in the shape of the batch
	// axes of the parameters. It may be nil.
	Holds func(p []*ad.Node) *ad.Node
	// Rule describes a violated condition on constant parameters beyond those, or returns "". Numbers that are not known
	// yet are NaN. It cannot be checked when a graph runs; see Holds.
	Rule func(p []float64) string
	// Linked is the name of the family that takes this one's parameter as a logarithm or a logit; "" if there is none.
	Linked string
	// Make takes one Node, number or array for each parameter.
	Make func(p ...any) Dist
	// At lists the parameter values that checks use. Each entry is the concatenation of
	// the elements of all parameters.
	At [][]float64
	// Shapes are the shapes of the parameters in At; nil if all are scalars. Value is the
	// shape of one value, which has as many axes as Event of the distribution; nil for numbers.
	Shapes [][]int
	Value  []int

	held       []int // the parameters that Holds is about, and what it wants
	holdsWant  string
	safe       func(i int, p []*ad.Node) float64 // a possible value of parameter i, if that of Want may not hold
	registered bool                              // by Register, outside this package
}

// New makes the distribution from the elements of its parameters, concatenated and shaped
// as in Shapes. A wrong number of elements is reported as an error of the distribution.
func (f Family) New(p ...float64) Dist {
	args, at := make([]any, len(f.Params)), 0
	for i := range args {
		shape := tensor.Shape{}
		if f.Shapes != nil {
			shape = f.Shapes[i]
		}
		n := shape.Size()
		switch {
		case at+n > len(p):
		case len(shape) == 0:
			args[i] = p[at]
		default:
			args[i] = ad.Const(p[at:at+n:at+n], shape...)
		}
		at += n
	}
	if at != len(p) {
		err := fmt.Errorf("dist: %s has the parameters %v, which are %s in all, but was given %d: pass one number for each element of the parameters", f.Name, f.Params, errtext.Count(at, "number"), len(p))
		return Dist{Name: f.Name, check: func() error { return err }}
	}
	return f.Make(args...)
}

var families []Family

// register adds a family to All, the only list of families.
func register(f Family) { families = append(families, f) }

// All returns every family, in the order of their files.
func All() []Family { return slices.Clone(families) }

// alias maps other common names to those of families.
var alias = map[string]string{"invgamma": "inversegamma", "gaussian": "normal", "studentst": "studentt", "chi2": "chisquared", "pertbeta4": "pert", "wald": "inversegaussian"}

// named returns the family with a given name. Case, "_" and "-" do not matter.
func named(name string) (Family, bool) {
	key := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	if a, ok := alias[key]; ok {
		key = a
	}
	i := slices.IndexFunc(families, func(l Family) bool { return l.Name == key })
	if i < 0 {
		return Family{}, false
	}
	return families[i], true
}

// FamilyByName returns the entry of a scalar distribution. If there is none, the error
// lists the known names.
func FamilyByName(name string) (Family, error) {
	l, ok := named(name)
	if !ok {
		var all []string
		for _, l := range families {
			if l.Shapes == nil {
				all = append(all, l.Name)
			}
		}
		if m := spelling.Meant(name, all); m != "" {
			return Family{}, fmt.Errorf("dist: there is no distribution %q: did you mean %s?", name, m)
		}
		return Family{}, fmt.Errorf("dist: there is no distribution %q: the distributions are %s%s", name, strings.Join(all, ", "), errtext.OwnPart)
	}
	if l.Shapes != nil {
		return Family{}, fmt.Errorf("dist: %s has arrays as parameters and cannot be made by name: make it in Go", l.Name)
	}
	return l, nil
}

// ByName makes a scalar distribution from its name and its parameters. If there is none,
// the error lists the known names.
func ByName(name string, p ...float64) (Dist, error) {
	l, err := FamilyByName(name)
	if err != nil {
		return Dist{}, err
	}
	d := l.New(p...)
	return d, d.Err()
}

// Parse reads a scalar distribution with constant parameters, such as "lognormal(0, 2)".
func Parse(text string) (Dist, error) {
	name, args, ok := strings.Cut(strings.TrimSpace(text), "(")
	args, closed := strings.CutSuffix(args, ")")
	if !ok || !closed {
		return Dist{}, fmt.Errorf("%q is not a distribution with numbers as parameters: write it like normal(10, 2)", text)
	}
	var p []float64
	for a := range strings.SplitSeq(args, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
		if err != nil {
			return Dist{}, fmt.Errorf("in %q, %q is not a number: write it like normal(10, 2)", text, strings.TrimSpace(a))
		}
		p = append(p, v)
	}
	return ByName(strings.ToLower(strings.TrimSpace(name)), p...)
}

// Err returns the first error in the parameters: an error of their graph, or a constant
// that the distribution does not allow.
func (d Dist) Err() error {
	for _, p := range d.Params {
		if err := p.Err(); err != nil {
			return fmt.Errorf("dist: %s: %w", d.Name, err)
		}
	}
	if d.LogProbOf == nil && d.check != nil {
		return d.check()
	}
	if d.LogProbOf == nil {
		return fmt.Errorf("dist: the distribution has no density: make it with a function of this package")
	}
	if d.Event < 0 || d.ParamEvent != nil && len(d.ParamEvent) != len(d.Params) {
		return fmt.Errorf("dist: %s has Event %d and ParamEvent %v for %d parameters: want at least 0, and one number of axes for each parameter", d.Name, d.Event, d.ParamEvent, len(d.Params))
	}
	if _, ok := d.batchOfParams(); !ok {
		return fmt.Errorf("dist: %v: the shapes of the parameters do not broadcast or have too few axes: make them match", d)
	}
	return d.impossible()
}

// impossible checks the constant parameters.
func (d Dist) impossible() error {
	if d.check != nil {
		if err := d.check(); err != nil {
			return err
		}
	}
	family, ok := named(d.Name)
	if !ok || len(family.Params) != len(d.Params) {
		return nil
	}
	known := make([]float64, len(d.Params))
	for i, p := range d.Params {
		known[i] = math.NaN()
		v, ok := constant(p)
		if !ok {
			continue
		}
		if x, bad := family.Want[i].misfit(v); bad {
			return fmt.Errorf("dist: %s has %s = %g: want %s", d.Name, family.Params[i], x, family.Want[i].words())
		}
		if len(v) == 1 {
			known[i] = v[0]
		}
	}
	if fault := family.disordered(known); fault != "" {
		return fmt.Errorf("dist: %s: want %s", family.called(known), fault)
	}
	if family.Rule != nil {
		if fault := family.Rule(known); fault != "" {
			return fmt.Errorf("dist: %s: want %s", family.called(known), fault)
		}
	}
	return nil
}

// called writes the distribution with its parameters, ? for those that are not known.
func (f Family) called(known []float64) string {
	text := make([]string, len(known))
	for i, v := range known {
		if text[i] = fmt.Sprintf("%s = %.4g", f.Params[i], v); math.IsNaN(v) {
			text[i] = f.Params[i] + " = ?"
		}
	}
	return f.Name + "(" + strings.Join(text, ", ") + ")"
}

// constant returns the elements of a constant Node.
func constant(n *ad.Node) ([]float64, bool) {
	if n.Err() != nil || !n.IsConst() || n.IsInt() || n.Size() == 0 {
		return nil, false
	}
	return slices.Clone(n.Numbers()), true
}
