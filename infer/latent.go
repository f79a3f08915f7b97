// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/infer/internal/labels"
)

// Discrete parameters are no coordinates of a sampler. They are summed out of the log density where that falls apart into small units once the others are given:
//
//   - independent labels, such as the component of a mixture to which each observation belongs: the terms of the log density belong to one element of each array;
//   - the states of a Markov chain, whose emissions belong to one state each;
//   - single numbers on which everything may depend, such as the place of a change: all combinations of their values are tried.
//
// Which element a term belongs to is found by trying: it changes when that element does, and not when others do. Draws of the discrete parameters are made
// afterwards, from their distribution given a draw of the continuous ones.
//
// Reference: Obermeyer, Bingham, Jankowiak, Chiu, Pradhan, Rush and Goodman, arXiv:1902.03210.

const (
	mostEntries = 1_000_000 // numbers in the tables of one gradient
	mostCopied  = 50_000    // operations of the graphs that stand for combinations of values
	mostValues  = 10_000    // of one discrete parameter
	// lostTail is the probability of the values of an endless distribution that are left out.
	lostTail = 1e-12
)

// latent is a discrete parameter that is summed out.
type latent struct {
	*param
	low   float64 // smallest value
	count int     // number of values, which are whole
}

// chain reports whether its elements are the states of a Markov chain.
func (l *latent) chain() bool { return l.prior.Name == markovChain }

// of returns a constant in which all elements have value number k.
func (l *latent) of(k int) *ad.Node { return ad.Full(l.low+float64(k), l.node.Shape()...) }

// latentTerm is a part of the log density that depends on discrete parameters.
type latentTerm struct {
	name        string
	node        *ad.Node
	observation int     // number of the observation, -1 if it is none
	owner       [][]int // of each latent: the element to which each element of the term belongs, or -1; nil where the term does not depend on it
	group       int     // -1 where it depends on outer parameters only
	unit        []int   // of each element, or -1
}

// latentGroup are arrays of discrete parameters whose elements are summed out together, in the units of a labels.Group.
type latentGroup struct {
	latents []int   // the states of a chain first
	place   [][]int // [array][unit]: the element, or -1
}

// elimination sums the discrete parameters of a model out.
type elimination struct {
	latents []latent
	outer   []int
	groups  []latentGroup
	sum     labels.Sum
	terms   []latentTerm
	// total is the log density of the terms, and tables are their numbers for all combinations of values.
	total  *ad.Node
	tables []*ad.Node
	prog   *ad.Program
	// direct computes the terms at values of the discrete parameters.
	direct *ad.Program
}

// latentFault describes what stands in the way of summing out.
func latentFault(format string, args ...any) error {
	return fmt.Errorf(format+": sum them out yourself with dist.Mixture, dist.LogMix or HMMForward", args...)
}

// eliminate prepares to sum the discrete parameters out of the terms that depend on them.
func (m *Model) eliminate(p *Posterior, f free, terms []latentTerm) (*elimination, error) {
	e := &elimination{terms: terms}
	for _, q := range m.latents {
		l := latent{param: q}
		var err error
		if l.low, l.count, err = q.values(); err != nil {
			return nil, err
		}
		if l.chain() && len(q.node.Shape()) != 1 {
			return nil, fmt.Errorf("parameter %s has shape %v, but a Markov chain has one axis: declare a parameter for each sequence", q.name, q.node.Shape())
		}
		e.latents = append(e.latents, l)
	}
	for i, x := range f.y {
		for _, n := range []*ad.Node{x, f.logJ[i], f.prior[i]} {
			if l := e.read(n); l != nil {
				return nil, latentFault("the values that parameter %s can take, or its reparametrisation, depend on the discrete parameter %s, which is summed out", m.params[i].name, l.name)
			}
		}
	}
	for i := range e.latents {
		if l := &e.latents[i]; !l.chain() {
			e.terms = append(e.terms, latentTerm{name: "prior of " + l.name, node: l.logPrior(), observation: -1})
		}
	}
	for i, t := range e.terms {
		if t.node.Err() != nil {
			return nil, fmt.Errorf("%s: %w", t.name, t.node.Err())
		}
		if t.node.Size() == 1 && t.node.Op() != nil && t.node.Op().Name == "sum" { // what is summed may fall apart
			e.terms[i].node = t.node.In()[0]
		}
	}
	if err := e.own(p, m, f); err != nil {
		return nil, err
	}
	if err := e.split(); err != nil {
		return nil, err
	}
	if err := e.affordable(); err != nil {
		return nil, err
	}
	return e, e.build()
}

// read returns the first discrete parameter on which a node depends, or nil.
func (e *elimination) read(n *ad.Node) *latent {
	for i := range e.latents {
		if n != nil && graph.Reads(n, e.latents[i].node) {
			return &e.latents[i]
		}
	}
	return nil
}

// values returns the smallest value of a discrete parameter, and the number of values.
func (p *param) values() (low float64, count int, err error) {
	unknown := fmt.Errorf("parameter %s is discrete (%s) and has no largest and smallest value that are known before sampling, so that it cannot be summed out: bound it by constants, as dist.Truncate does, or use DiscreteUniform, Binomial or Categorical", p.name, p.prior.Name)
	s := p.prior.Support
	if s.Lower == nil || !graph.Constant(s.Lower) {
		return 0, 0, unknown
	}
	lower, err := ad.Numbers(s.Lower)
	if err != nil {
		return 0, 0, unknown
	}
	low = math.Ceil(slices.Min(lower[0]))
	high := math.Inf(1)
	if s.Upper != nil && graph.Constant(s.Upper) {
		upper, err := ad.Numbers(s.Upper)
		if err != nil {
			return 0, 0, unknown
		}
		high = math.Floor(slices.Max(upper[0]))
	} else if s.Upper != nil {
		return 0, 0, unknown
	}
	if math.IsInf(high, 1) {
		if high, err = p.farEnough(low); err != nil {
			return 0, 0, unknown
		}
	}
	if math.IsInf(low, 0) || !(high >= low) {
		return 0, 0, unknown
	}
	if high-low >= mostValues {
		return 0, 0, latentFault("parameter %s can have %.0f values, which are too many to sum over: want at most %d", p.name, high-low+1, mostValues)
	}
	return low, int(high-low) + 1, nil
}

// farEnough returns the value beyond which a distribution with known parameters has next to no probability.
func (p *param) farEnough(low float64) (float64, error) {
	none := fmt.Errorf("infer: no end")
	if p.prior.CDFOf == nil || p.prior.Event > 0 || slices.ContainsFunc(p.prior.Params, func(n *ad.Node) bool { return !graph.Constant(n) }) {
		return 0, none
	}
	theta, err := ad.Numbers(p.prior.Params...)
	if err != nil {
		return 0, none
	}
	sets := 1
	for _, v := range theta {
		sets = max(sets, len(v))
	}
	far := low
	for k := range sets {
		set := make([]float64, len(theta))
		for i, v := range theta {
			if len(v) != 1 && len(v) != sets {
				return 0, none
			}
			set[i] = v[k%len(v)]
		}
		for !(1-p.prior.CDF(far, set) < lostTail) {
			if far++; far > low+mostValues {
				return 0, none
			}
		}
	}
	return far, nil
}

// combination returns the digits of a combination of values of some of the latents, of which the first runs slowest.
func (e *elimination) combination(of []int, number int) []int {
	digits := make([]int, len(of))
	for i := len(of) - 1; i >= 0; i-- {
		k := e.latents[of[i]].count
		digits[i], number = number%k, number/k
	}
	return digits
}

func (e *elimination) combinations(of []int) float64 {
	n := 1.0
	for _, i := range of {
		n *= float64(e.latents[i].count)
	}
	return n
}

func (e *elimination) names(of []int) string {
	var names []string
	for _, i := range of {
		names = append(names, e.latents[i].name)
	}
	return strings.Join(names, ", ")
}

// affordable reports whether the tables are small enough.
func (e *elimination) affordable() error {
	settings := e.combinations(e.outer)
	entries, copied := 0.0, 0.0
	for _, t := range e.terms {
		n := settings
		if t.group >= 0 {
			n *= e.combinations(e.groups[t.group].latents)
		}
		entries += n * float64(t.node.Size())
		copied += n * float64(e.dependents(t.node))
	}
	for _, g := range e.groups {
		if e.latents[g.latents[0]].chain() {
			k := float64(e.latents[g.latents[0]].count)
			entries += settings * k * k * float64(e.latents[g.latents[0]].node.Size())
		}
	}
	if entries <= mostEntries && copied <= mostCopied {
		return nil
	}
	var all []int
	for i := range e.latents {
		all = append(all, i)
	}
	why := ""
	if len(e.outer) > 0 && settings > 1 {
		why = fmt.Sprintf("; all %.0f values of %s are tried", settings, e.names(e.outer))
	}
	return latentFault("summing over %s takes %.2g numbers and %.2g operations for each gradient%s: want at most %d and %d; give them fewer values, or fewer of them a common term", e.names(all), entries, copied, why, mostEntries, mostCopied)
}

// dependents counts the operations of a graph that depend on discrete parameters.
func (e *elimination) dependents(out *ad.Node) int {
	on := map[*ad.Node]bool{}
	count := 0
	var visit func(n *ad.Node) bool
	visit = func(n *ad.Node) bool {
		if v, known := on[n]; known {
			return v
		}
		on[n] = slices.ContainsFunc(e.latents, func(l latent) bool { return l.node == n })
		for _, x := range n.In() {
			if visit(x) {
				on[n] = true
			}
		}
		if on[n] {
			count++
		}
		return on[n]
	}
	visit(out)
	return count
}

// build makes the graphs of the sum and of its tables.
func (e *elimination) build() error {
	e.sum.Settings = int(e.combinations(e.outer))
	var settings []*ad.Node
	for o := range e.sum.Settings {
		var rest []*ad.Node
		joint := make([][][]*ad.Node, len(e.groups)) // [group][combination]
		for k := range e.groups {
			joint[k] = make([][]*ad.Node, e.sum.Groups[k].Combinations())
		}
		for i := range e.terms {
			t := &e.terms[i]
			combinations := 1
			if t.group >= 0 {
				combinations = e.sum.Groups[t.group].Combinations()
			}
			for c := range combinations {
				n := graph.Row(e.at(t.node, o, t.group, c))
				e.tables = append(e.tables, n)
				if t.group < 0 {
					rest = append(rest, ad.Sum(n))
					continue
				}
				units, left := e.scatter(t, n)
				joint[t.group][c] = append(joint[t.group][c], units)
				if left != nil && c == 0 {
					rest = append(rest, left)
				}
			}
		}
		for k := range e.groups {
			rest = append(rest, e.summed(k, o, joint[k]))
		}
		settings = append(settings, ad.AddN(rest...))
	}
	if e.total = settings[0]; len(settings) > 1 {
		e.total = ad.LogSumExp(ad.Stack(0, settings...), 0)
	}
	return e.total.Err()
}

// at returns a node at a setting of the outer parameters and a combination of values of a group, -1 for none.
func (e *elimination) at(n *ad.Node, setting, group, combination int) *ad.Node {
	from, to := make([]*ad.Node, len(e.latents)), make([]*ad.Node, len(e.latents))
	for i := range e.latents {
		from[i], to[i] = e.latents[i].node, e.latents[i].of(0)
	}
	put := func(of []int, number int) {
		for i, k := range e.combination(of, number) {
			to[of[i]] = e.latents[of[i]].of(k)
		}
	}
	put(e.outer, setting)
	if group >= 0 {
		put(e.groups[group].latents, combination)
	}
	return withoutZeros(ad.Substitute([]*ad.Node{n}, from, to)[0])
}

// withoutZeros replaces products with constants that are 0 by 0, so that what a label switches off has no derivative, which might be infinite.
func withoutZeros(out *ad.Node) *ad.Node {
	return graph.Replaced(out, func(n *ad.Node) *ad.Node {
		if n.Op() != nil && n.Op().Name == "mul" && !graph.Constant(n) && slices.ContainsFunc(n.In(), isZero) {
			return ad.Full(0, n.Shape()...)
		}
		return nil
	})
}

// isZero reports whether all elements of a node are the constant 0.
func isZero(n *ad.Node) bool {
	if !graph.Constant(n) {
		return false
	}
	v, err := ad.Numbers(n)
	return err == nil && !slices.ContainsFunc(v[0], func(x float64) bool { return x != 0 })
}

// scatter adds the elements of a term to their units, and returns the sum of those that belong to none apart.
func (e *elimination) scatter(t *latentTerm, n *ad.Node) (units, left *ad.Node) {
	size := e.sum.Groups[t.group].Units
	if slices.Equal(t.unit, others(nil, size)) {
		return n, nil
	}
	bins := slices.Clone(t.unit)
	alone := false
	for i, u := range bins {
		if u < 0 {
			bins[i], alone = size, true
		}
	}
	if !alone {
		return ad.ScatterAdd(n, ad.Ints(bins), 0, size), nil
	}
	all := ad.ScatterAdd(n, ad.Ints(bins), 0, size+1)
	return ad.Slice(all, 0, 0, size), ad.Index(all, 0, size)
}

// lacking returns -Inf for combinations in which an element that a unit lacks has another than its first value, nil where no unit lacks any.
func (g *latentGroup) lacking(e *elimination, combination int) []float64 {
	var out []float64
	for a, digit := range e.combination(g.latents, combination) {
		for u, at := range g.place[a] {
			if at < 0 && digit > 0 {
				if out == nil {
					out = make([]float64, len(g.place[a]))
				}
				out[u] = math.Inf(-1)
			}
		}
	}
	return out
}

// summed returns the log density of a group with its parameters summed out.
func (e *elimination) summed(k, setting int, joint [][]*ad.Node) *ad.Node {
	g, list := &e.groups[k], make([]*ad.Node, len(joint))
	for c, parts := range joint {
		if lost := g.lacking(e, c); lost != nil {
			parts = append(parts, ad.Const(lost))
		}
		if len(parts) == 0 {
			parts = []*ad.Node{ad.Full(0, e.sum.Groups[k].Units)}
		}
		list[c] = ad.AddN(parts...)
	}
	if !e.sum.Groups[k].Chain {
		return ad.Sum(ad.LogSumExp(ad.Stack(0, list...), 0))
	}
	l := &e.latents[g.latents[0]]
	per := len(list) / l.count
	emission := make([]*ad.Node, l.count)
	for state := range emission {
		emission[state] = list[state*per]
		if per > 1 {
			emission[state] = ad.LogSumExp(ad.Stack(0, list[state*per:(state+1)*per]...), 0)
		}
	}
	initial, steps := logOrNever(e.at(l.prior.Params[0], setting, -1, 0)), logOrNever(e.at(l.prior.Params[1], setting, -1, 0))
	e.tables = append(e.tables, initial, steps)
	return HMMForward(initial, steps, ad.Stack(1, emission...))
}
