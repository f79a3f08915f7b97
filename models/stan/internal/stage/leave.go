// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// leaving says under which conditions on parameters statements were left, each as a Node that is 1 or 0, or nil where that cannot happen.
type leaving struct{ broke, continued, returned *ad.Node }

func (l leaving) none() bool { return l.broke == nil && l.continued == nil && l.returned == nil }

// leavingOf returns the conditions of an end, which are constants unless it depends on parameters.
func leavingOf(e end) leaving {
	one := ad.Scalar(1)
	switch {
	case e.leaves != nil:
		return *e.leaves
	case e.way == broke:
		return leaving{broke: one}
	case e.way == continued:
		return leaving{continued: one}
	case e.way == returned:
		return leaving{returned: one}
	}
	return leaving{}
}

// each combines two sets of conditions one by one; f gets 0 for nil where the other one is not.
func (l leaving) each(k leaving, f func(a, b *ad.Node) *ad.Node) leaving {
	pair := func(a, b *ad.Node) *ad.Node {
		if a == nil && b == nil {
			return nil
		}
		if a == nil {
			a = ad.Scalar(0)
		}
		if b == nil {
			b = ad.Scalar(0)
		}
		return f(a, b)
	}
	return leaving{pair(l.broke, k.broke), pair(l.continued, k.continued), pair(l.returned, k.returned)}
}

// stays is 1 where statements were not left.
func (l leaving) stays() *ad.Node {
	left := []*ad.Node{ad.Scalar(0)}
	for _, n := range []*ad.Node{l.broke, l.continued, l.returned} {
		if n != nil {
			left = append(left, n)
		}
	}
	return ad.Sub(ad.Scalar(1), ad.AddN(left...))
}

// mixed makes an end of conditions; v is what is returned.
func mixed(l leaving, v value.Value) end {
	if l.none() {
		return end{}
	}
	return end{leaves: &l, v: v}
}

// depends says whether it depends on parameters how statements end.
func (e end) depends() bool { return e.leaves != nil }

// over says that what follows in a list of statements does not run in any case.
func (e end) over() bool { return e.way != on && !e.depends() }

// outOfLoop is how a loop ends of which the repetitions ended so.
func (e end) outOfLoop() end {
	if !e.depends() {
		if e.way == broke || e.way == continued {
			e.way = on
		}
		return e
	}
	return mixed(leaving{returned: e.leaves.returned}, e.v)
}

// outOfRepetition is how a repetition of a loop ends whose body ended so.
func (e end) outOfRepetition() end {
	if !e.depends() {
		if e.way == continued {
			e.way = on
		}
		return e
	}
	return mixed(leaving{broke: e.leaves.broke, returned: e.leaves.returned}, e.v)
}

// resume runs what follows statements that may have been left, where they were not.
func (m *Machine) resume(at syntax.Span, e end, rest func() (end, error)) (end, error) {
	then, err := m.explore(rest)
	if err != nil {
		return end{}, err
	}
	otherwise, err := m.explore(func() (end, error) { return end{}, nil })
	if err != nil {
		return end{}, err
	}
	r, err := m.merge(at, e.leaves.stays(), then, otherwise)
	if err != nil {
		return end{}, err
	}
	if r.way == rejected {
		return r, nil
	}
	l := leavingOf(r)
	v := e.v
	switch {
	case l.returned != nil && e.leaves.returned != nil && r.v.Type.Kind != typing.Void:
		if !sameSizes(e.v, r.v) {
			return end{}, m.faultf(at, "the returns of this function under conditions on parameters have values of different sizes: return values of one size")
		}
		list := nodesOf(r.v)
		for i, n := range nodesOf(e.v) {
			list[i] = ad.Where(e.leaves.returned, n, list[i])
		}
		v, _ = withNodes(r.v, list)
	case l.returned != nil:
		v = r.v
	}
	return mixed(e.leaves.each(l, ad.Add), v), nil
}

// repeat runs repetitions of a loop; once runs one of them, and says whether there is one. Those after one that may have left the loop run
// where it did not.
func (m *Machine) repeat(at syntax.Span, once func(i int) (e end, more bool, err error)) (so end, err error) {
	for i := 0; ; i++ {
		more := true
		run := func() (e end, err error) {
			e, more, err = once(i)
			return e.outOfRepetition(), err
		}
		if so.depends() {
			so, err = m.resume(at, so, run)
		} else {
			so, err = run()
		}
		if err != nil || !more || so.over() {
			return so, err
		}
	}
}
