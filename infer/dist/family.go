// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"cmp"
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
	// Rule describes a violated condition on the parameters beyond Want, or returns "".
	// Numbers that are not known yet are NaN.
	Rule func(p []float64) string
	// Make takes one Node, number or array for each parameter.
	Make func(p ...any) Dist
	// At lists the parameter values that checks use. Each entry is the concatenation of
	// the elements of all parameters.
	At [][]float64
	// Shapes are the shapes of the parameters in At; nil if all are scalars. Value is the
	// shape of one value, which has as many axes as Event of the distribution; nil for numbers.
	Shapes [][]int
	Value  []int
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

// Register adds a user's distribution to All, so that ByName, Parse, formulas with priors and the command
// line know its name. It is meant for init functions, and panics if the definition is incomplete or the name is
// taken. Package disttest checks the definition.
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
	made := f.made()
	if made.LogProbOf == nil && made.check == nil {
		return fmt.Errorf("Make returned a distribution without LogProbOf at the parameters %v: set it", f.At[0])
	}
	if err := made.Err(); err != nil {
		return err
	}
	return f.fits(made)
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
		if err := f.transforms(d.Transform(), shape); err != nil {
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

func (f Family) transforms(t Transform, shape []int) error {
	defer f.blame("Transform")
	free, err := t.FreeShape(shape...)
	if err != nil {
		return err
	}
	y, logJ := t.Apply(ad.Input("x", free...), shape...)
	return cmp.Or(y.Err(), logJ.Err())
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
		hint := ""
		if m := spelling.Meant(name, all); m != "" {
			hint = " did you mean " + m + "?"
		}
		return Family{}, fmt.Errorf("dist: there is no distribution %q:%s the distributions are %v", name, hint, all)
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
	if family.Rule != nil {
		if fault := family.Rule(known); fault != "" {
			return fmt.Errorf("dist: %s%v: want %s", d.Name, known, fault)
		}
	}
	return nil
}

// constant returns the elements of a constant Node.
func constant(n *ad.Node) ([]float64, bool) {
	if n.Err() != nil || !n.IsConst() || n.IsInt() || n.Size() == 0 {
		return nil, false
	}
	v, err := ad.Eval(ad.Reshape(n, n.Size()))
	if err != nil {
		return nil, false
	}
	return v[0].Data().([]float64), true
}

// increasing is the Rule for two ends.
func increasing(p []float64) string {
	if p[0] >= p[1] {
		return fmt.Sprintf("%g < %g", p[0], p[1])
	}
	return ""
}
