// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Posterior is a compiled Model: a Target over the unconstrained parameters, in
// the order of declaration, row-major inside each. It is not safe for
// concurrent use; Clone shares the programs.
type Posterior struct {
	model *Model
	// density computes lp, its gradients and the parts of lp, from the unconstrained
	// parameters, the data and the static subgraph.
	density *ad.Program
	on      string // where most of the density runs, if that is not where its program does
	// derive computes the constrained parameters and the derived quantities.
	derive *ad.Program
	// predict computes the pointwise log-likelihoods and the parameters of the distributions
	// of the observations.
	predict *ad.Program
	// graph are lp and its gradients, and whole the outputs of density.
	graph, whole []*ad.Node
	// shared is memory of density for all clones, nil where each has its own.
	shared *sharedState
	// derived are the outputs of derive.
	derived []*ad.Node
	// inputs are the inputs of the programs, without the static subgraph.
	inputs []*ad.Node
	// parts are the names of the parts of lp.
	parts []string
	// latent sums the discrete parameters out of latentTerms; nil where there are none.
	latent      *elimination
	latentTerms []latentTerm
	summing     *ad.State   // runs the tables of latent
	direct      *ad.State   // runs the terms of latent at given values of the discrete parameters
	held        [][]float64 // values of the discrete parameters that stay while q moves, nil where they belong to q
	dim         int
	// columns is the number of columns of a draw.
	columns int
	data    [][]float64
	// fixed is the static subgraph of the density, nil where it has none.
	fixed *fixedPart
	// fixedValues are the values of the static subgraph.
	fixedValues [][]float64
	run         *ad.State
	// write runs derive.
	write *ad.State
	// ask runs predict.
	ask *ad.State
}

// Dim returns the number of unconstrained parameters.
func (p *Posterior) Dim() int { return p.dim }

// Clone returns a Posterior with a workspace of its own.
func (p *Posterior) Clone() Target {
	c := *p
	c.run, c.write, c.ask, c.summing, c.direct = nil, nil, nil, nil, nil
	return &c
}

// LogProbGrad writes the gradient at q into g and returns the log density with
// all constants and the Jacobians of the transforms.
func (p *Posterior) LogProbGrad(q, g []float64) (float64, error) {
	if p.shared != nil {
		defer p.shared.lend(p)()
	}
	if p.run == nil {
		p.run = p.state(p.density)
	}
	k := len(p.model.params)
	if k > 0 {
		copy(p.run.InputSpan(0, k), q)
	}
	if err := p.run.Run(); err != nil {
		var fault interface{ AtPoint() bool }
		if errors.As(err, &fault) && fault.AtPoint() { // not of the model
			err = Reject(err)
		}
		return math.NaN(), err
	}
	if k > 0 {
		copy(g, p.run.OutputSpan(1, 1+k))
	}
	return p.run.Output(0)[0], p.run.Err()
}

// state makes a workspace with the data in place.
func (p *Posterior) state(prog *ad.Program) *ad.State {
	given := p.data
	if prog == p.density {
		given = p.givenValues()
	}
	return graph.State(prog, len(p.model.params), given)
}

// Bytes returns the memory that the log density and its gradient need for one chain.
func (p *Posterior) Bytes() int { return p.density.Bytes() }

// OnProcessor lists the operations of a log density compiled for a device that run on the processor.
func (p *Posterior) OnProcessor() []string { return p.density.OnProcessor() }

// Names returns the columns of a draw: parameters, then derived quantities;
// elements of arrays are name[0], name[0, 1] or, over named axes, name[label],
// row-major.
func (p *Posterior) Names() []string {
	var out []string
	for _, v := range p.stored() {
		out = append(out, v.columns()...)
	}
	return out
}

// stored lists the parameters and derived quantities, whose values make a draw.
func (p *Posterior) stored() (all []*quantity) {
	for _, q := range slices.Concat(p.model.params, p.model.latents) {
		all = append(all, &quantity{q.name, q.node, q.dims})
	}
	return append(all, p.model.derived...)
}

// columns names the elements of a quantity.
func (v *quantity) columns() []string {
	shape := v.node.Shape()
	if len(shape) == 0 {
		return []string{v.name}
	}
	out := make([]string, v.node.Size())
	for i := range out {
		place, rest := make([]string, len(shape)), i
		for axis := len(shape) - 1; axis >= 0; axis-- {
			k := rest % shape[axis]
			rest /= shape[axis]
			if place[axis] = strconv.Itoa(k); v.dims != nil {
				place[axis] = v.dims[axis].Labels[k]
			}
		}
		out[i] = v.name + "[" + strings.Join(place, ", ") + "]"
	}
	return out
}

// Len returns the number of columns of a draw.
func (p *Posterior) Len() int { return p.columns }

// Write fills out with the columns at the unconstrained draw q.
func (p *Posterior) Write(q, out []float64) error {
	if err := p.at(&p.write, p.derive, q); err != nil {
		return err
	}
	n := len(p.model.params) + len(p.model.latents) + len(p.model.derived)
	if n > 0 {
		copy(out, p.write.OutputSpan(0, n))
	}
	return p.write.Err()
}

// at runs prog at q in the state, which it makes if there is none. Discrete parameters have the values that belong to q.
func (p *Posterior) at(state **ad.State, prog *ad.Program, q []float64) error {
	if *state == nil {
		*state = p.state(prog)
	}
	if k := len(p.model.params); k > 0 {
		copy((*state).InputSpan(0, k), q)
	}
	if p.latent != nil {
		z, err := p.drawLabels(q)
		if err != nil {
			return err
		}
		for i, v := range z {
			copy((*state).Input(len(p.model.params)+len(p.data)+i), v)
		}
	}
	return (*state).Run()
}

// LogLik returns the log-likelihood of every value that counts as data, at the
// unconstrained draw q, in the order of Observe: masked and imputed values do not.
// Where a value depends on discrete parameters, it is the log density given the other
// values, with these parameters summed out.
func (p *Posterior) LogLik(q []float64) ([]float64, error) {
	if err := p.at(&p.ask, p.predict, q); err != nil {
		return nil, err
	}
	summed, err := p.logLikSummed(q)
	if err != nil {
		return nil, err
	}
	var out []float64
	for i, o := range p.model.observed {
		ll := p.ask.Output(i)
		if summed[i] != nil {
			ll = summed[i]
		}
		for _, k := range o.counts() {
			out = append(out, ll[k])
		}
	}
	return out, p.ask.Err()
}

// logLikSummed returns the log-likelihoods of the observations that depend on discrete parameters, by their numbers.
func (p *Posterior) logLikSummed(q []float64) (map[int][]float64, error) {
	if p.latent == nil {
		return nil, nil
	}
	s, err := p.sums(q)
	if err != nil {
		return nil, err
	}
	out := map[int][]float64{}
	for i, t := range p.latent.terms {
		if t.observation >= 0 {
			out[t.observation] = s.withoutLabels(i)
		}
	}
	return out, nil
}

// Predict draws new data for observation name at the unconstrained draw q, as
// many as were observed, missing and masked places included.
func (p *Posterior) Predict(name string, q []float64, src Source) ([]float64, error) {
	at := len(p.model.observed)
	for _, o := range p.model.observed {
		k := len(o.dist.Params)
		if o.name != name {
			at += k
			continue
		}
		if err := p.at(&p.ask, p.predict, q); err != nil {
			return nil, err
		}
		theta := make([][]float64, k)
		for j := range theta {
			theta[j] = p.ask.Output(at + j)
		}
		if err := p.ask.Err(); err != nil {
			return nil, err
		}
		out := make([]float64, o.data.node.Size())
		if err := o.dist.Fill(src, out, o.data.node.Shape(), theta); err != nil {
			return nil, fmt.Errorf("infer: predict %s: %w", name, err)
		}
		return out, nil
	}
	return nil, fmt.Errorf("infer: there is no observation %q to predict: the observations are %v", name, p.observations())
}

// observations lists the names of what was observed.
func (p *Posterior) observations() (names []string) {
	for _, o := range p.model.observed {
		names = append(names, o.name)
	}
	return names
}

// Source is a stream of random numbers: tensor.Stream is one.
type Source interface {
	Float64() float64
	Normal() float64
}

// SetData replaces data or an observation by values of the same length, for
// this Posterior and later Clones. An observation is checked as Compile does; the
// places that are masked or imputed stay so.
func (p *Posterior) SetData(name string, values []float64) error {
	i := slices.IndexFunc(p.model.data, func(d *datum) bool { return d.name == name })
	if i < 0 {
		return fmt.Errorf("infer: there are no data %q in model %s: use a name declared with Data or Observe", name, p.model.name)
	}
	if n := len(p.data[i]); len(values) != n {
		return fmt.Errorf("infer: data %s were given %s: want %d, as at Compile", name, errtext.Count(len(values), "value"), n)
	}
	next := *p
	next.data = slices.Clone(p.data)
	next.data[i] = slices.Clone(values)
	for _, o := range p.model.observed {
		if o.data == p.model.data[i] && o.kept != nil {
			next.data[i] = o.filled(values, others(o.kept, len(values)))
		}
	}
	for _, o := range p.model.observed {
		if err := o.check(&next); err != nil {
			return fmt.Errorf("infer: %w", err)
		}
	}
	if err := next.computeFixed(); err != nil {
		return fmt.Errorf("infer: data %s: %w", name, err)
	}
	p.data, p.fixedValues, p.run, p.write, p.ask, p.summing, p.direct = next.data, next.fixedValues, nil, nil, nil, nil, nil
	return nil
}

// Explain names the parts of the log density that are not finite at q.
func (p *Posterior) Explain(q []float64) string {
	g := make([]float64, p.dim)
	if _, err := p.LogProbGrad(q, g); err != nil {
		return err.Error()
	}
	var bad []string
	for i, name := range p.parts {
		if v := p.part(i); !linalg.Finite(v) {
			bad = append(bad, fmt.Sprintf("%s is %g%s", name, v, p.because(name, q)))
		}
	}
	return strings.Join(bad, ", ")
}

// because says which number makes a part of the log density that is not finite at q so: a parameter that its transform
// puts outside the support of its prior, or a datum. It is empty where that is not known.
func (p *Posterior) because(part string, q []float64) string {
	row := make([]float64, p.columns)
	if err := p.Write(q, row); err != nil {
		return ""
	}
	var from, to []*ad.Node
	for _, m := range p.model.params {
		n := m.node.Size()
		v := row[:n]
		row = row[n:]
		if from, to = append(from, m.node), append(to, graph.Like(m.node, v)); n == 0 || part != "prior of "+m.name || m.prior.Event > 0 {
			continue
		}
		if why := p.outside(part, from, to); why != "" {
			return why
		}
		in := m.prior.Support.Inside(m.node)
		if in == nil {
			return ""
		}
		inside, err := p.atValues([]*ad.Node{in}, from, to)
		if k := slices.Index(append(inside, nil)[0], 0); err == nil && k >= 0 {
			return fmt.Sprintf(", because the transform %q maps to %g, outside the support of %s", m.transform.Name, v[min(k, n-1)], m.prior.Name)
		}
		return ""
	}
	if why := p.outside(part, from, to); why != "" {
		return why
	}
	for i, o := range p.model.observed {
		if part != "likelihood of "+o.name || o.dist.Event > 0 || o.missing != nil {
			continue
		}
		if err := p.at(&p.ask, p.predict, q); err != nil {
			return ""
		}
		ll, y := p.ask.Output(i), p.data[slices.Index(p.model.data, o.data)]
		wrong := slices.DeleteFunc(slices.Clone(o.counts()), func(k int) bool { return linalg.Finite(ll[k]) })
		if len(wrong) > 0 && len(wrong) < len(o.counts()) { // or else no datum is the reason
			k := wrong[0]
			return fmt.Sprintf(", first at %s[%d] = %g", o.name, k, y[k])
		}
	}
	return ""
}

// part returns part i of the log density at the last point.
func (p *Posterior) part(i int) float64 { return p.run.Output(1 + len(p.model.params) + i)[0] }

// Fingerprint tells models and data apart. Besides names, shapes and data it
// holds what the model computes at three points, to six digits, so that it sees
// a changed constant and does not see another processor.
func (p *Posterior) Fingerprint() string {
	f, err := p.fingerprint()
	if err != nil {
		return "none: " + err.Error()
	}
	return f
}

// fingerprint is Fingerprint with the error of a device that cannot compute the model now.
func (p *Posterior) fingerprint() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d\n", p.model.name, p.Names(), p.parts, p.dim)
	for i, d := range p.data {
		fmt.Fprintf(h, "%q %d\n", p.model.data[i].name, len(d))
		_ = binary.Write(h, binary.LittleEndian, d) // a hash takes every write
	}
	probe := p.Clone().(*Posterior)
	q, g, out := make([]float64, p.dim), make([]float64, p.dim), make([]float64, p.Len())
	for k := range 3 {
		for i := range q {
			q[i] = float64((7*i+5*k)%11-5) / 8
		}
		switch _, err := probe.LogProbGrad(q, g); {
		case err == nil:
			for i := range p.parts {
				fmt.Fprintf(h, "%.6g ", probe.part(i))
			}
			if err := probe.run.Err(); err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%.6g <nil> ", g)
		case ad.IsDeviceFault(err):
			return "", err
		default: // the error's numbers, and what was computed until then, depend on the processor
			fmt.Fprint(h, "no density ")
		}
		switch err := probe.Write(q, out); {
		case err == nil:
			fmt.Fprintf(h, "%.6g <nil>\n", out)
		case ad.IsDeviceFault(err):
			return "", err
		default:
			fmt.Fprint(h, "no draw\n")
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16]), nil
}

var (
	_ Target        = (*Posterior)(nil)
	_ Outputs       = (*Posterior)(nil)
	_ Explainer     = (*Posterior)(nil)
	_ Fingerprinter = (*Posterior)(nil)
)
