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
	"github.com/euryale-dev/euryale/tensor"
)

// Array says which arrays a parameter with axes of its own may be, beyond the interval of its elements.
type Array int

const (
	AnyArray      Array = iota // AnyArray has no condition beyond that on the elements.
	Probabilities              // Probabilities are at least 0 and sum to 1 over the last axis.
	Ascending                  // Ascending numbers increase along the last axis.
	Factor                     // Factor is a Cholesky factor: a matrix whose diagonal is above 0.
	Covariance                 // Covariance is a symmetric positive definite matrix.
)

// Order is a condition on two parameters of a Family, given by their names: Low is below High, or may be equal to it if
// Equal is set.
type Order struct {
	Low, High string
	Equal     bool
}

// ParamRange is the range of a parameter of a Dist, and where the parameter leaves it.
type ParamRange struct {
	Param string   // Param is the name of the parameter.
	Node  *ad.Node // Node is the parameter.
	// Outside is 1 where the parameter is out of its range and 0 elsewhere, in the shape of the batch axes.
	Outside *ad.Node
	Want    string // Want describes the range in words, such as "a finite number above 0".
	Link    string // Link says how to obtain a parameter in this range from any number.
}

// Ranges returns the ranges of the parameters that may leave them when the graph runs. Constants that Err has checked and
// parameters that are in their range by construction, such as exponentials where numbers above 0 are wanted, are left
// out. Where Outside is 1, LogProb, LogCDF and LogCCDF are -Inf.
func (d Dist) Ranges() []ParamRange {
	var out []ParamRange
	for _, l := range d.limits() {
		out = append(out, ParamRange{Param: l.name, Node: l.param, Outside: ad.Sub(one, l.mask), Want: l.want, Link: l.link})
	}
	return out
}

// limit is a condition on parameters that may be violated when a graph runs.
type limit struct {
	name, want, link string
	param            *ad.Node
	mask             *ad.Node // 1 where the condition holds, in the shape of the batch axes
	inside           *ad.Node // the same for each element
	fixes            []fix
}

// fix replaces a parameter by one that is in its range everywhere, in the same shape.
type fix struct{ from, to *ad.Node }

// inRange returns f(d, x) where all parameters are in their ranges, and -Inf with a gradient of 0 elsewhere: there f sees
// other parameters, at which the density and its derivatives are finite.
func (d Dist) inRange(x *ad.Node, f func(d Dist, x *ad.Node) *ad.Node) *ad.Node {
	if x == nil || x.Err() != nil || d.LogProbOf == nil {
		return f(d, x)
	}
	d = d.aligned()
	limits := d.limits()
	if len(limits) == 0 {
		return f(d, x)
	}
	var from, to []*ad.Node
	mask := one
	for _, l := range limits {
		if l.mask.Err() != nil {
			return l.mask
		}
		mask = both(mask, l.mask)
		for _, s := range l.fixes {
			if i := slices.Index(from, s.from); i >= 0 { // one Node is two parameters
				to[i] = ad.Substitute([]*ad.Node{s.to}, []*ad.Node{s.from}, []*ad.Node{to[i]})[0]
				continue
			}
			from, to = append(from, s.from), append(to, s.to)
		}
	}
	in := x
	if !x.IsConst() && !x.IsInt() { // x may be computed from the same parameters, which must not change in it
		in = ad.Input("x", x.Shape()...)
		from, to = append(from, in), append(to, x)
	}
	lp := f(d, in)
	if lp.Err() != nil {
		return lp
	}
	lp = ad.Substitute([]*ad.Node{lp}, from, to)[0]
	return d.batched(x, ad.Where(mask, lp, ad.Scalar(math.Inf(-1))))
}

func both(a, b *ad.Node) *ad.Node {
	if a == one {
		return b
	}
	return ad.Mul(a, b)
}

// ranges lists the conditions on the parameters of a distribution.
type ranges struct {
	params []allowed
	groups []group
}

// allowed is the range of a parameter. If it is not known, the parameter may be anything.
type allowed struct {
	known bool
	name  string
	want  Support
	array Array
	safe  float64 // a number in the range
	link  string
}

// group is a set of parameters that must satisfy joint conditions. order holds pairs of indices of parameters. holds is a
// condition on all parameters of a family, the first of which is at index from.
type group struct {
	members     []int
	order       []pair
	holds       func(p []*ad.Node) *ad.Node
	from, count int
	want        string
}

type pair struct {
	low, high int
	equal     bool
}

// joined appends the ranges of another distribution, whose parameters follow.
func (r ranges) joined(s ranges, suffix string) ranges {
	at := len(r.params)
	r.params, r.groups = slices.Clone(r.params), slices.Clone(r.groups)
	for _, p := range s.params {
		p.name += suffix
		r.params = append(r.params, p)
	}
	for _, g := range s.groups {
		moved := group{holds: g.holds, from: g.from + at, count: g.count, want: g.want}
		for _, m := range g.members {
			moved.members = append(moved.members, m+at)
		}
		for _, o := range g.order {
			moved.order = append(moved.order, pair{o.low + at, o.high + at, o.equal})
		}
		r.groups = append(r.groups, moved)
	}
	return r
}

// ranges returns those of the family, or of the distributions that this one is made of. Parameters of unknown
// distributions may be anything.
func (d Dist) ranges() ranges {
	if d.rangesOf != nil {
		return d.rangesOf()
	}
	if f, ok := named(d.Name); ok && len(f.Params) == len(d.Params) {
		return f.ranges(d)
	}
	return ranges{params: make([]allowed, len(d.Params))}
}

func (f Family) ranges(d Dist) ranges {
	var r ranges
	for i, name := range f.Params {
		p := allowed{name: name, known: true, want: f.Want[i], safe: f.Want[i].typical(), link: f.linkOf(i)}
		if f.Arrays != nil {
			p.array = f.Arrays[i]
		}
		if f.safe != nil {
			p.safe = f.safe(i, d.Params)
		}
		r.params = append(r.params, p)
	}
	if len(f.Order) == 0 && f.Holds == nil {
		return r
	}
	g := group{holds: f.Holds, count: len(f.Params), want: cmp.Or(f.orders(), f.holdsWant)}
	for _, o := range f.Order {
		low, high := slices.Index(f.Params, o.Low), slices.Index(f.Params, o.High)
		g.order = append(g.order, pair{low, high, o.Equal})
	}
	for i := range f.Params {
		if slices.Contains(f.held, i) || slices.ContainsFunc(g.order, func(o pair) bool { return o.low == i || o.high == i }) {
			g.members = append(g.members, i)
			if f.Shapes == nil && f.safe == nil {
				r.params[i].safe = f.At[0][i]
			}
		}
	}
	r.groups = []group{g}
	return r
}

// orders writes the conditions of Order in words.
func (f Family) orders() string {
	var text []string
	for _, o := range f.Order {
		text = append(text, o.Low+map[bool]string{false: " < ", true: " <= "}[o.Equal]+o.High)
	}
	return strings.Join(text, " and ")
}

// disordered returns the conditions of Order that numbers violate. Numbers that are not known yet are NaN.
func (f Family) disordered(p []float64) string {
	for _, o := range f.Order {
		low, high := p[slices.Index(f.Params, o.Low)], p[slices.Index(f.Params, o.High)]
		if low > high || low == high && !o.Equal {
			return f.orders()
		}
	}
	return ""
}

// linkOf says how to obtain parameter i from any number.
func (f Family) linkOf(i int) string {
	array := AnyArray
	if f.Arrays != nil {
		array = f.Arrays[i]
	}
	link := f.Want[i].link(array)
	if f.Linked != "" && link != "" {
		if l, ok := named(f.Linked); ok && !slices.Contains(l.Params, f.Params[i]) {
			link = "use " + f.Linked + ", or " + link
		}
	}
	return link
}

// link says how to map any numbers to the support.
func (s Support) link(array Array) string {
	switch array {
	case Probabilities:
		return "pass the softmax of any numbers"
	case Ascending:
		return "pass the cumulative sum of exponentials"
	case Factor, Covariance:
		return "give it a prior on such matrices, such as LKJCholesky with scales"
	}
	lo, hi := s.Ends()
	switch low, high := !math.IsInf(lo, 0), !math.IsInf(hi, 0); {
	case s.Whole:
		return ""
	case low && high && lo == 0 && hi == 1:
		return "pass sigmoid(...) of any number"
	case low && high:
		return fmt.Sprintf("pass %g + %g*sigmoid(...) of any number", lo, hi-lo)
	case low && lo == 0:
		return "pass exp(...) or softplus(...) of any number"
	case low:
		return fmt.Sprintf("pass %g + exp(...) of any number", lo)
	case high:
		return fmt.Sprintf("pass %g - exp(...) of any number", hi)
	}
	return ""
}

// typical returns a number in the support, which is not at an end if there are others.
func (s Support) typical() float64 {
	lo, hi := s.Ends()
	low, high := !math.IsInf(lo, 0), !math.IsInf(hi, 0)
	switch {
	case s.Whole && low:
		return lo + 1
	case low && high:
		return lo + (hi-lo)/2
	case low:
		return lo + 1
	case high:
		return hi - 1
	}
	return 0
}

// aligned broadcasts parameters with joint conditions to a common shape, so that they can be replaced together.
func (d Dist) aligned() Dist {
	var params []*ad.Node
	for _, g := range d.ranges().groups {
		shape, ok := tensor.Shape{}, true
		for _, m := range g.members {
			shape, ok = tensor.Broadcast(shape, d.Params[m].Shape())
			if !ok || d.Params[m].Err() != nil {
				return d
			}
		}
		for _, m := range g.members {
			if len(g.order) > 0 && !d.Params[m].Shape().Equal(shape) {
				if params == nil {
					params = slices.Clone(d.Params)
				}
				params[m] = ad.Broadcast(d.Params[m], shape...)
			}
		}
	}
	if params == nil || d.remake == nil && !own(d.Name) {
		return d
	}
	return d.with(params)
}

// own reports whether a family is one of this package.
func own(name string) bool { f, ok := named(name); return ok && !f.registered }

// limits returns the conditions that may be violated when the graph runs.
func (d Dist) limits() []limit {
	if slices.ContainsFunc(d.Params, func(p *ad.Node) bool { return p == nil || p.Err() != nil }) {
		return nil
	}
	if _, ok := d.batchOfParams(); !ok {
		return nil
	}
	r, events := d.ranges(), d.paramEvents()
	if len(r.params) != len(d.Params) {
		return nil
	}
	single := make([]limit, len(d.Params))
	for i, p := range d.Params {
		single[i] = r.params[i].limit(p, events[i])
	}
	var out []limit
	for _, g := range r.groups {
		l, found := g.limit(d.Params, r.params, single, events)
		if !found {
			continue
		}
		out = append(out, l)
		for _, m := range g.members { // the joint condition replaces it
			if single[m].mask != nil {
				single[m].fixes = nil
			}
		}
	}
	// Parameters of any size come first, so that a Node that is also a scale is replaced by a possible scale.
	for _, real := range []bool{true, false} {
		for i, l := range single {
			if l.mask != nil && (r.params[i].want == Real) == real {
				out = append(out, l)
			}
		}
	}
	return out
}

// limit returns the condition on a parameter, without a mask if the parameter is known to satisfy it.
func (r allowed) limit(p *ad.Node, event int) limit {
	l := limit{name: r.name, want: r.want.words(), link: r.link, param: p}
	v, isConst := constant(p)
	_, misfit := r.want.misfit(v)
	switch {
	case !r.known || p.IsInt() || p.Size() == 0 || isConst && !misfit:
		return l
	case r.array == AnyArray && spanOf(p).within(r.want):
		return l
	}
	s := p.Shape()
	k := max(0, len(s)-event)
	if r.array.misshaped(s[k:]) {
		return l
	}
	want := r.want
	want.Whole = false // densities continue smoothly between whole numbers, and so do models that use them
	inside := want.Inside(p)
	if inside == nil {
		inside = ad.Less(ad.Abs(p), ad.Scalar(math.Inf(1)))
	}
	l.inside, l.mask = inside, lowered(inside, len(s)-k)
	if r.array == AnyArray {
		l.fixes = []fix{{p, ad.Where(inside, p, ad.Scalar(r.safe))}}
		return l
	}
	if holds := r.array.holds(p); holds != nil {
		l.mask = ad.Mul(l.mask, holds)
	}
	l.want = r.array.words(l.want)
	l.fixes = []fix{{p, ad.Where(wide(l.mask, len(s)-k), p, r.array.safe(s[k:], r.safe))}}
	return l
}

// lowered returns the smallest element over the last n axes.
func lowered(x *ad.Node, n int) *ad.Node {
	n = min(n, len(x.Shape()))
	if n <= 0 || x.Err() != nil {
		return x
	}
	axes := make([]int, n)
	for i := range axes {
		axes[i] = i - n
	}
	return ad.MinAxes(x, axes...)
}

// wide appends n axes of length 1.
func wide(x *ad.Node, n int) *ad.Node {
	return ad.Reshape(x, append(x.Shape().Clone(), ones(n)...)...)
}

// limit returns the joint condition of a group.
func (g group) limit(p []*ad.Node, r []allowed, single []limit, events []int) (limit, bool) {
	need, mask := false, one
	for _, o := range g.order {
		low, high := spanOf(p[o.low]), spanOf(p[o.high])
		if low.hi < high.lo || low.hi == high.lo && (o.equal || low.hiOpen || high.loOpen) {
			continue
		}
		need = true
		if o.equal {
			mask = both(mask, ad.LessEqual(p[o.low], p[o.high]))
		} else {
			mask = both(mask, ad.Less(p[o.low], p[o.high]))
		}
	}
	if g.holds != nil {
		if h := g.holds(p[g.from : g.from+g.count]); h != nil {
			need, mask = true, both(mask, h)
		}
	}
	if !need {
		return limit{}, false
	}
	l := limit{want: g.want, param: p[g.members[0]]}
	var names []string
	for _, m := range g.members {
		names = append(names, r[m].name)
		if s := single[m].inside; s != nil {
			mask = both(mask, s)
		}
	}
	l.name, l.mask = strings.Join(names, ", "), lowered(mask, events[g.members[0]])
	for _, m := range g.members {
		if mask.Err() == nil && mask.Shape().Equal(p[m].Shape()) {
			l.fixes = append(l.fixes, fix{p[m], ad.Where(mask, p[m], ad.Scalar(r[m].safe))})
		}
	}
	if g.order != nil {
		l.link = "pass the lower one plus exp(...) of any number as the upper one"
	}
	return l, true
}
