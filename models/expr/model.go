// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Model returns the Bayesian model: every parameter that a formula uses needs a
// prior, bounds, a place in Flat, or a fixed or tied value.
func (p *Problem) Model() (*infer.Model, error) {
	b := &builder{p: p, model: infer.NewModel("expr"), nodes: map[string]*ad.Node{}, dims: map[string]infer.Dim{},
		codes: map[string]*ad.Node{}, used: map[string]bool{}}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	return b.model, nil
}

// Observation is the name under which the model observes Y.
func (p *Problem) Observation() string {
	if _, ok := p.Data[p.Y]; ok {
		return p.Y
	}
	return "y"
}

// builder makes the nodes of names as they are needed.
type builder struct {
	p     *Problem
	model *infer.Model
	n     int                  // number of rows
	nodes map[string]*ad.Node  // nodes made so far
	dims  map[string]infer.Dim // axes of the columns that groups are over
	codes map[string]*ad.Node  // values of these columns as integer codes
	open  []string             // names whose nodes are being made, to detect cycles
	used  map[string]bool      // names that some formula uses
	whole bool                 // whether the formula has functions of all rows together, whose columns are constant
}

func (b *builder) build() error {
	p := b.p
	if p.Loss != "" || p.Absolute != nil && !*p.Absolute {
		return fmt.Errorf("loss and absolute_sigma are only for least squares: for sampling, give a likelihood such as studentt(4, mu, sigma) instead")
	}
	if p.Implicit || p.Cov != nil || p.AR1 != "" || p.ScaleError != "" || p.OffsetError != "" {
		return fmt.Errorf("implicit, cov, ar1, scale_error and offset_error are only for least squares: leave them out, or fit")
	}
	if err := p.checkLatent(); err != nil {
		return err
	}
	if err := p.storable(); err != nil {
		return err
	}
	columns, n, err := p.columns()
	if err != nil {
		return err
	}
	b.n = n
	if f, err := p.formula(); err == nil {
		b.whole = f.OfRows()
	}
	y, err := p.observed(columns, n)
	if err != nil {
		return err
	}
	if err := b.groups(); err != nil {
		return err
	}
	for _, name := range p.parameters() {
		if _, err := b.node(name); err != nil {
			return err
		}
	}
	if err := b.observe(y); err != nil {
		return err
	}
	for _, name := range sortedKeys(p.Derived) {
		n, err := b.node(name)
		if err != nil {
			return err
		}
		b.model.Deterministic(name, n)
	}
	return b.unused()
}

// parameters lists the names of the sampled parameters.
func (p *Problem) parameters() (names []string) {
	add := func(name string) {
		_, fixed := p.Fixed[name]
		if !fixed && p.Tied[name] == "" && p.SigmaX[name] == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for name := range p.Priors {
		add(name)
	}
	for name := range p.Bounds {
		add(name)
	}
	for _, name := range p.Flat {
		add(name)
	}
	slices.SortFunc(names, natural)
	return names
}

// groups declares the axes of vectors.
func (b *builder) groups() error {
	for _, name := range sortedKeys(b.p.Groups) {
		over := b.p.Groups[name].Over
		c, ok := b.p.Data[over]
		if !ok {
			return fmt.Errorf("groups: %s is over %q, which is not a column%s", name, over, meant(over, sortedKeys(b.p.Data)))
		}
		if _, done := b.dims[over]; done {
			continue
		}
		labels, code := c.levels()
		b.dims[over], b.codes[over] = b.model.Dim(over, labels...), ad.Ints(code)
	}
	return nil
}

// observe adds the likelihood.
func (b *builder) observe(y []float64) error {
	special := map[string]*ad.Node{}
	mu, err := b.rows("expr", b.p.Expr)
	if err != nil {
		return err
	}
	special["mu"] = mu
	if b.p.Sigma != "" {
		if c, ok := b.p.Data[b.p.Sigma]; ok && c.Labels == nil {
			if _, err := b.p.errorColumn(map[string]*ad.Node{b.p.Sigma: mu}); err != nil {
				return err
			}
		}
		if special["sigma"], err = b.rows("sigma", b.p.Sigma); err != nil {
			return err
		}
	}
	text := b.p.Likelihood
	if text == "" {
		text = "normal(mu, sigma)"
		_, free := b.p.Priors["sigma"]
		if special["sigma"] == nil && !free && !slices.Contains(b.p.parameters(), "sigma") && b.p.Tied["sigma"] == "" {
			if _, ok := b.p.Fixed["sigma"]; !ok {
				return fmt.Errorf("sigma is missing: name a column of errors, or a parameter with a prior (%s), or give a likelihood", `"sigma": "s", "priors": {"s": "halfnormal(5)"}`)
			}
		}
	}
	if err := b.correlate(special); err != nil {
		return err
	}
	distribution, err := b.distribution("likelihood", text, special, false)
	if err != nil {
		return err
	}
	b.model.Observe(b.p.Observation(), distribution, y)
	return nil
}

// rows makes the node of a formula that has one value for each row.
func (b *builder) rows(where, text string) (*ad.Node, error) {
	f, err := formula.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	n, err := b.eval(where, f, nil, false)
	if err != nil {
		return nil, err
	}
	if err := perRow(f, n, b.n); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	n = ad.Broadcast(n, b.n)
	return n, n.Err()
}

// distribution makes a distribution from its name and the formulas of its arguments.
func (b *builder) distribution(where, text string, special map[string]*ad.Node, whole bool) (dist.Dist, error) {
	c, err := formula.ParseCall(text)
	if err != nil {
		return dist.Dist{}, fmt.Errorf("%s: %w", where, err)
	}
	l, err := dist.FamilyByName(c.Name)
	if err != nil {
		return dist.Dist{}, fmt.Errorf("%s: %q: %w", where, text, err)
	}
	if len(c.Args) != len(l.Params) {
		return dist.Dist{}, fmt.Errorf("%s: %q has %s: want %s(%s)", where, text, errtext.Count(len(c.Args), "argument"), l.Name, strings.Join(l.Params, ", "))
	}
	args := make([]any, len(c.Args))
	for i, f := range c.Args {
		if args[i], err = b.eval(where, f, special, whole); err != nil {
			return dist.Dist{}, err
		}
	}
	d := l.Make(args...)
	if err := d.Err(); err != nil {
		return d, fmt.Errorf("%s: %q: %w", where, text, err)
	}
	return d, nil
}

// eval makes the graph of a formula, and first whatever the formula names. special values take
// precedence over all others; whole allows vectors without an index.
func (b *builder) eval(where string, f *formula.Formula, special map[string]*ad.Node, whole bool) (*ad.Node, error) {
	indices := f.Indices()
	values := map[string]*ad.Node{}
	for _, index := range indices {
		values[index] = b.codes[index]
		if b.codes[index] == nil {
			return nil, fmt.Errorf(`%s: %q has the index %s, but no group is over it: say "groups": {name: {"over": %q}}`, where, f, index, index)
		}
	}
	for _, name := range f.Names() {
		if b.codes[name] != nil && values[name] != nil && usedAsNumber(f.String(), name) {
			return nil, fmt.Errorf("%s: %q uses the column %s both as an index and as numbers: give the data a copy of it under another name for one of the two", where, f, name)
		}
		b.used[name] = true
		if values[name] != nil {
			continue
		}
		if n := special[name]; n != nil && indices[name] == "" {
			values[name] = n
			continue
		}
		over := b.p.Groups[name].Over
		if indices[name] != over && (!whole || indices[name] != "") {
			return nil, fmt.Errorf("%s: in %q, %s must be written %s", where, f, name, map[bool]string{true: name + "[" + over + "], as it is a vector over that column", false: name + " without an index, as it has no group"}[over != ""])
		}
		n, err := b.node(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		values[name] = n
	}
	n, err := f.Node(values)
	if err == nil && len(values) == 0 {
		n, err = folded(n)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return n, nil
}

// usedAsNumber reports whether a formula uses a name other than as an index.
func usedAsNumber(text, name string) bool {
	name = regexp.QuoteMeta(name)
	return regexp.MustCompile(`\b` + name + `\b`).MatchString(regexp.MustCompile(`\[\s*`+name+`\s*\]`).ReplaceAllString(text, ""))
}

// folded evaluates a constant, so that a distribution can check it.
func folded(n *ad.Node) (*ad.Node, error) {
	v, err := ad.Numbers(n)
	if err != nil {
		return nil, err
	}
	return ad.Scalar(v[0][0]), nil
}

// unused returns an error for declared names that nothing uses: they are probably misspelt.
func (b *builder) unused() error {
	var known []string
	for name := range b.used {
		known = append(known, name)
	}
	fields := []struct {
		name string
		keys []string
	}{{"priors", sortedKeys(b.p.Priors)}, {"flat", b.p.Flat}, {"bounds", sortedKeys(b.p.Bounds)}, {"fixed", sortedKeys(b.p.Fixed)},
		{"tied", sortedKeys(b.p.Tied)}, {"groups", sortedKeys(b.p.Groups)}}
	for _, f := range fields {
		for _, key := range f.keys {
			if !b.used[key] && !(key == "sigma" && b.p.Sigma == "") {
				return &FieldError{f.name, key, fmt.Errorf("%s names %s, which no formula uses%s", f.name, key, meant(key, known))}
			}
		}
	}
	params := b.p.parameters()
	for _, f := range []struct {
		name string
		keys []string
	}{{"groups", sortedKeys(b.p.Groups)}, {"noncentred", b.p.NonCentred}, {"start", sortedKeys(b.p.Start)}} {
		for _, key := range f.keys {
			_, fixed := b.p.Fixed[key]
			if tied := b.p.Tied[key] != ""; !slices.Contains(params, key) && (f.name == "noncentred" || !tied && !fixed) {
				return fmt.Errorf("%s names %s, which is not a sampled parameter%s", f.name, key, meant(key, params))
			}
		}
	}
	return nil
}
