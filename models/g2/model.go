// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Model is a relaxation model: g2 as a function of the delay, or, for the power laws, a
// relaxation time as a function of q. Name, Formula, Params, Of and Mean must be set.
type Model struct {
	Name    string // name in settings, files and flags, of letters, digits, _ and -
	Formula string // formula of Mean for readers; it is not evaluated
	// Params lists the parameters of the point fit, in order.
	Params []Param
	// Of is the independent variable: "delay" (s) or "q" (1/Angstrom).
	Of string
	// Mean is the model at x, given its parameters as scalar Nodes in the order of Params. It must return one value for each
	// element of x, in the shape of x, also where it does not depend on x: broadcast a constant. Another shape is an error.
	// Gradient: must exist with respect to every parameter.
	Mean func(p []*ad.Node, x *ad.Node) *ad.Node
	// Starts returns start points guessed from the data, besides that of Params: rows of len(Params) finite numbers in the
	// order of Params; other rows are an error. A number beyond its bounds is moved to the bound. Nil means none.
	Starts func(c Curve) [][]float64
	// Pairs lists parameters that swap when two components are put in order. The first pair is
	// compared; Complement names a fraction f, if there is one, that then becomes 1 - f.
	Pairs      [][2]int
	Complement string
	// sampled holds the sampled parameters if they differ from Params.
	sampled *reparametrised
	// scaledErrors says that the customary errors are scaled by the reduced
	// chi-square.
	scaledErrors bool
}

// Param is one parameter of a model.
type Param struct {
	Name string // name in settings, files and flags, of letters, digits and _
	Unit string // unit for readers, such as "s"; "" for none
	// Start, Lower and Upper are the default start and bounds: Lower < Upper, and Start within them; bounds may be infinite.
	// If they depend on the data, Range computes them, and RangeText says in a help text how, such as "shortest to longest delay".
	// A start that Range gives beyond its bounds, as Curve.Guess may, is moved to the bound. The delays c.X may be in any order, and
	// c.Q and c.Phi are NaN where they do not apply, as for a CSV file.
	Start, Lower, Upper float64
	Range               func(c Curve) (start, lower, upper float64)
	RangeText           string
	// Prior is the default prior, a continuous distribution of numbers whose support overlaps Lower to Upper. The bounds
	// of the model do not truncate it, but those of Settings do. If it depends on the bounds that hold for a curve, PriorRange computes it from them, and PriorText says in a
	// help text how, such as "uniform over the delays". Set either Prior or PriorRange.
	Prior      dist.Dist
	PriorRange func(lower, upper float64) dist.Dist
	PriorText  string

	ends     []float64               // those of the bounds that are the ends of what the parameter can be
	priorOf  func(c Curve) dist.Dist // default prior for a curve in place of Prior, which help texts show with PriorText; nil: Prior
	positive bool                    // whether the model makes sense for positive values only
}

func (p Param) limits(c Curve) (start, lower, upper float64) {
	if p.Range == nil {
		return p.Start, p.Lower, p.Upper
	}
	if start, lower, upper = p.Range(c); lower < upper {
		start = min(max(start, lower), upper)
	}
	return start, lower, upper
}

// ranged returns an error for a parameter whose Range gives bounds that are none, or a start that is none. Settings may replace
// both.
func (m Model) ranged(params []Param, c Curve, s Settings) error {
	for _, p := range params {
		if _, bounded := s.Bounds[p.Name]; p.Range == nil || bounded {
			continue
		}
		start, lower, upper := p.limits(c)
		_, started := s.Start[p.Name]
		if _, fixed := s.Fixed[p.Name]; started || fixed {
			start = 0
		}
		if lower < upper && !math.IsNaN(start) && !math.IsInf(start, 0) {
			continue
		}
		why := ""
		if math.IsNaN(start+lower+upper) && (math.IsNaN(c.Q) || math.IsNaN(c.Phi)) {
			why = "; Q and Phi of a curve are NaN where the data have none"
		}
		return fmt.Errorf("g2: Range of the parameter %s of the model %q gives the start %g within %g to %g: want the lower bound below the upper one, and a finite start%s", p.Name, m.Name, start, lower, upper, why)
	}
	return nil
}

func (p Param) prior(c Curve) dist.Dist {
	if p.priorOf != nil {
		return p.priorOf(c)
	}
	if p.PriorRange != nil {
		_, lo, hi := p.limits(c)
		return p.PriorRange(lo, hi)
	}
	return p.Prior
}

var models []Model

// plain is a name that flags and files can carry.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// variable is the name of a parameter, which files of draws and flags such as --bounds carry.
var variable = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// axisName is the name that files give to an axis of a vector without labels, such as theta_dim_0.
var axisName = regexp.MustCompile(`_dim_[0-9]+$`)

// noise is the name of the standard deviation that posteriors infer if the errors are not known.
const noise = "sigma"

// Register adds a user's model to Models, so that fits, posteriors and the command line know its
// name. It is meant for init functions, and panics if the definition is incomplete, if the name is
// taken, if a parameter is called sigma, if a start, bounds and prior exclude each other, or if Mean returns another shape than that
// of x.
func Register(m Model) {
	var lacks []string
	for _, part := range []struct {
		name    string
		missing bool
	}{{"Name", m.Name == ""}, {"Formula", m.Formula == ""}, {"Params", len(m.Params) == 0}, {"Of", m.Of == ""}, {"Mean", m.Mean == nil}} {
		if part.missing {
			lacks = append(lacks, part.name)
		}
	}
	switch {
	case len(lacks) > 0:
		panic(fmt.Sprintf("g2: the model %q is incomplete: set %s", m.Name, strings.Join(lacks, ", ")))
	case !plain.MatchString(m.Name):
		panic(fmt.Sprintf("g2: a model cannot be called %q: use letters, digits, _ and -, and begin with a letter", m.Name))
	case slices.ContainsFunc(models, func(o Model) bool { return o.Name == m.Name }):
		panic(fmt.Sprintf("g2: there already is a model %q: give yours a name of its own", m.Name))
	}
	if err := m.wrong(); err != nil {
		panic(err.Error())
	}
	for i, p := range m.Params {
		if err := p.onePrior(); err != nil {
			panic(fmt.Sprintf("g2: the parameter %q of the model %q has %v", p.Name, m.Name, err))
		}
		if p.Name == noise {
			panic(fmt.Sprintf("g2: the model %q has a parameter called %q, the name that posteriors give to the standard deviation of data without errors: rename it", m.Name, p.Name))
		}
		if m.index(p.Name) != i {
			panic(fmt.Sprintf("g2: the model %q has two parameters called %q: give each a name of its own", m.Name, p.Name))
		}
		if p.Range == nil && !(p.Lower < p.Upper && p.Lower <= p.Start && p.Start <= p.Upper && !math.IsInf(p.Start, 0)) {
			panic(fmt.Sprintf("g2: the parameter %q of the model %q starts at %g within %g to %g: set Lower < Upper with a finite Start between them, or set Range", p.Name, m.Name, p.Start, p.Lower, p.Upper))
		}
		if p.PriorRange == nil {
			if err := p.priorFits(); err != nil {
				panic(fmt.Sprintf("g2: the parameter %q of the model %q has %v", p.Name, m.Name, err))
			}
		}
	}
	if err := m.tried(); err != nil {
		panic(err.Error())
	}
	models = append(models, m)
}

// onePrior reports a parameter that has no prior, one that cannot be used, or two.
func (p Param) onePrior() error {
	given := p.Prior.Name != "" || p.Prior.LogProbOf != nil || len(p.Prior.Params) > 0
	switch err := p.Prior.Err(); {
	case given && p.PriorRange != nil:
		return errors.New("both Prior and PriorRange, of which only PriorRange would count: set one of them")
	case p.PriorRange != nil:
		return nil
	case !given:
		return errors.New("no prior: set Prior to a distribution of package infer/dist, or set PriorRange")
	case err != nil:
		return fmt.Errorf("a prior that cannot be used: %w", err)
	}
	return nil
}

// priorFits reports a prior that no sampler can use, or whose support lies outside the bounds.
func (p Param) priorFits() error {
	if p.Prior.Discrete || p.Prior.Event > 0 {
		return fmt.Errorf("the prior %s, which is not a continuous distribution of numbers: set Prior to one", p.Prior.Name)
	}
	low, high, err := dist.Range(p.Prior)
	if err != nil {
		return fmt.Errorf("the prior %s, whose support is not known: %w", p.Prior.Name, err)
	}
	if p.Range == nil && (high <= p.Lower || low >= p.Upper) {
		return fmt.Errorf("the prior %s between %g and %g, outside its bounds %g to %g: change Prior, or Lower and Upper", p.Prior.Name, low, high, p.Lower, p.Upper)
	}
	return nil
}

// tried calls Mean for three values of x, and names the model if it panics.
func (m Model) tried() error {
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("g2: Mean of the model %q panics for %s and 3 values of x: %v", m.Name, errtext.Count(len(m.Params), "parameter"), r))
		}
	}()
	_, err := m.at(m.Mean, m.inputs(), ad.Const([]float64{0.01, 0.1, 1}))
	return err
}

// inputs returns a Node for each parameter.
func (m Model) inputs() []*ad.Node {
	nodes := make([]*ad.Node, len(m.Params))
	for i, p := range m.Params {
		nodes[i] = ad.Input(p.Name)
	}
	return nodes
}

// wrong finds what a fit or a posterior would stumble over later.
func (m Model) wrong() error {
	if m.Mean == nil || len(m.Params) == 0 {
		return fmt.Errorf("g2: the model %q has %s, and its Mean is set: %t: set Params and Mean, or take a model from ByName", m.Name, errtext.Count(len(m.Params), "parameter"), m.Mean != nil)
	}
	if m.Of != "delay" && m.Of != "q" {
		return fmt.Errorf("g2: the model %q is a function of %q: want delay or q", m.Name, m.Of)
	}
	for _, p := range m.Params {
		if !variable.MatchString(p.Name) || strings.HasSuffix(p.Name, "__") {
			return fmt.Errorf("g2: the model %q has a parameter called %q: use letters, digits and _, begin with a letter, and do not end with __", m.Name, p.Name)
		}
		if _, err := strconv.ParseFloat(p.Name, 64); err == nil || p.Name == "chain" || p.Name == "draw" || axisName.MatchString(p.Name) {
			return fmt.Errorf("g2: the model %q has a parameter called %q, a name that files of draws give to an axis or read as a number: rename it", m.Name, p.Name)
		}
	}
	n := len(m.Params)
	for _, p := range m.Pairs {
		if p[0] < 0 || p[1] < 0 || p[0] >= n || p[1] >= n || p[0] == p[1] {
			return fmt.Errorf("g2: the model %q has the pair %v: want the places, from 0 to %d, of two of its parameters %s", m.Name, p, n-1, strings.Join(m.names(), ", "))
		}
	}
	if m.Complement != "" && m.index(m.Complement) < 0 {
		return fmt.Errorf("g2: the model %q has the Complement %q: want the name of one of its parameters, %s, or none", m.Name, m.Complement, strings.Join(m.names(), ", "))
	}
	return nil
}

// at calls a mean of the model and checks that it returned one value for each x.
func (m Model) at(mean func(p []*ad.Node, x *ad.Node) *ad.Node, p []*ad.Node, x *ad.Node) (*ad.Node, error) {
	y := mean(p, x)
	switch {
	case y == nil:
		return nil, fmt.Errorf("g2: Mean of the model %q returned nil: want the model at each x, of the shape %v", m.Name, x.Shape())
	case y.Err() != nil:
		return nil, fmt.Errorf("g2: Mean of the model %q: %w", m.Name, y.Err())
	case !y.Shape().Equal(x.Shape()):
		return nil, fmt.Errorf("g2: Mean of the model %q returned the shape %v for %s of x: want the shape %v, one value for each", m.Name, y.Shape(), errtext.Count(x.Size(), "value"), x.Shape())
	}
	return y, nil
}

// guesses returns the start points that the model guesses for a curve.
func (m Model) guesses(c Curve) ([][]float64, error) {
	if m.Starts == nil {
		return nil, nil
	}
	all := m.Starts(c)
	for i, x := range all {
		if len(x) != len(m.Params) || slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			return nil, fmt.Errorf("g2: Starts of the model %q returned %v as start %d: want %s, one for each of %s", m.Name, x, i, errtext.Count(len(m.Params), "finite number"), strings.Join(m.names(), ", "))
		}
	}
	return all, nil
}

// Models returns every model: those of this package, and those added by Register.
func Models() []Model { return append([]Model(nil), models...) }

// ByName returns the model with that name; if there is none, the error lists the names that exist.
func ByName(name string) (Model, error) {
	var all []string
	for _, m := range models {
		if m.Name == name {
			return m, nil
		}
		all = append(all, m.Name)
	}
	hint := ""
	if m := spelling.Meant(name, all); m != "" {
		hint = " did you mean " + m + "?"
	}
	return Model{}, fmt.Errorf("g2: there is no model %q:%s want one of %s%s", name, hint, strings.Join(all, ", "), errtext.OwnPart)
}

// index returns the position of the parameter name, or -1.
func (m Model) index(name string) int {
	for i, p := range m.Params {
		if p.Name == name {
			return i
		}
	}
	return -1
}

func (m Model) names() []string {
	out := make([]string, len(m.Params))
	for i, p := range m.Params {
		out[i] = p.Name
	}
	return out
}

// On returns the model on the points x, delays in seconds or q in 1/Angstrom, as a function of the parameters, in the
// order of Params. The function belongs to one goroutine; its result, one value for each of x, is valid
// until the next call. It panics if it is given another number of parameters. The error is that of a Mean that does not fit x.
func (m Model) On(x []float64) (func(p []float64) []float64, error) {
	nodes := m.inputs()
	y, err := m.at(m.Mean, nodes, ad.Const(x))
	if err != nil {
		return nil, err
	}
	prog, err := ad.Compile([]*ad.Node{y}, ad.Settings{Inputs: nodes, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	s := prog.NewState()
	return func(p []float64) []float64 {
		if len(p) != len(nodes) {
			panic(fmt.Sprintf("g2: the model %q was given %s: want one for each of %s", m.Name, errtext.Count(len(p), "number"), strings.Join(m.names(), ", ")))
		}
		copy(s.InputSpan(0, len(nodes)), p)
		if err := s.Run(); err != nil {
			panic("g2: " + err.Error()) // elementwise programs cannot fail
		}
		return s.Output(0)
	}, nil
}

// reparametrised is the sampled form of a model.
type reparametrised struct {
	params []Param
	// mean is the model as a function of the sampled parameters; derived computes the quantities
	// reported in addition, by name.
	mean    func(p []*ad.Node, x *ad.Node) *ad.Node
	derived func(p []*ad.Node) map[string]*ad.Node
	// from maps a point fit to the sampled parameters.
	from func(fit []float64) []float64
}

// decay returns exp(-2 x/tau).
func decay(x, tau *ad.Node) *ad.Node { return ad.Exp(ad.Scale(-2, ad.Div(x, tau))) }

// geometric returns the geometric mean of two numbers of at least 0, also where their product is beyond the range of 64-bit
// numbers.
func geometric(lo, hi float64) float64 {
	if p := lo * hi; p > 1e-300 && p < 1e300 {
		return math.Sqrt(p)
	}
	return math.Sqrt(lo) * math.Sqrt(hi)
}
