// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Model is a relaxation model: g2 as a function of the delay, or, for the power laws, a
// relaxation time as a function of q.
type Model struct {
	Name    string
	Formula string
	// Params lists the parameters of the point fit, in order.
	Params []Param
	// Of is the independent variable: "delay" (s) or "q" (1/Angstrom).
	Of string
	// Mean is the model at x, given its parameters as Nodes in the order of Params.
	Mean func(p []*ad.Node, x *ad.Node) *ad.Node
	// Starts returns start points guessed from the data, besides that of Params. Nil means none.
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
	Name string
	Unit string
	// Default start and bounds of the parameter. If they depend on the data, Range computes them.
	Start, Lower, Upper float64
	Range               func(c Curve) (start, lower, upper float64)
	// Prior is the default prior. If it depends on the data, PriorRange computes it.
	Prior      dist.Dist
	PriorRange func(lower, upper float64) dist.Dist
}

func (p Param) limits(c Curve) (start, lower, upper float64) {
	if p.Range != nil {
		return p.Range(c)
	}
	return p.Start, p.Lower, p.Upper
}

func (p Param) prior(c Curve) dist.Dist {
	if p.PriorRange != nil {
		_, lo, hi := p.limits(c)
		return p.PriorRange(lo, hi)
	}
	return p.Prior
}

var models []Model

// plain is a name that flags and files can carry.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// Register adds a user's model to Models, so that fits, posteriors and the command line know its
// name. It is meant for init functions, and panics if the definition is incomplete or the name is
// taken.
func Register(m Model) {
	switch {
	case m.Name == "" || m.Mean == nil || len(m.Params) == 0 || m.Formula == "":
		panic(fmt.Sprintf("g2: the model %q is incomplete: give it Name, Formula, Params and Mean", m.Name))
	case !plain.MatchString(m.Name):
		panic(fmt.Sprintf("g2: a model cannot be called %q: use letters, digits, _ and -, and begin with a letter", m.Name))
	case m.Of != "delay" && m.Of != "q":
		panic(fmt.Sprintf("g2: the model %q is a function of %q: want delay or q", m.Name, m.Of))
	case slices.ContainsFunc(models, func(o Model) bool { return o.Name == m.Name }):
		panic(fmt.Sprintf("g2: there already is a model %q: give yours a name of its own", m.Name))
	}
	for i, p := range m.Params {
		if p.PriorRange == nil && p.Prior.Err() != nil {
			panic(fmt.Sprintf("g2: the parameter %q of the model %q has no prior that can be used: set Prior to a distribution of package infer/dist, or set PriorRange", p.Name, m.Name))
		}
		if p.Name == "" || m.index(p.Name) != i || p.Range == nil && !(p.Lower < p.Upper && p.Lower <= p.Start && p.Start <= p.Upper) {
			panic(fmt.Sprintf("g2: the model %q has parameter %d, %q, which starts at %g within %g to %g: give it a name of its own, and Lower <= Start <= Upper or Range", m.Name, i, p.Name, p.Start, p.Lower, p.Upper))
		}
	}
	if m.Starts == nil {
		m.Starts = func(Curve) [][]float64 { return nil }
	}
	models = append(models, m)
}

// Models returns every model.
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
	return Model{}, fmt.Errorf("g2: there is no model %q:%s want one of %s", name, hint, strings.Join(all, ", "))
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

// On returns the model on the points x as a function of the parameters, in the
// order of Params. The function belongs to one goroutine; its result is valid
// until the next call.
func (m Model) On(x []float64) (func(p []float64) []float64, error) {
	nodes := make([]*ad.Node, len(m.Params))
	for i, p := range m.Params {
		nodes[i] = ad.Input(p.Name)
	}
	prog, err := ad.Compile([]*ad.Node{ad.Broadcast(m.Mean(nodes, ad.Const(x)), len(x))}, ad.Settings{Inputs: nodes, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	s := prog.NewState()
	return func(p []float64) []float64 {
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

func geometric(lo, hi float64) float64 { return math.Sqrt(lo * hi) }
