// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"slices"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// span says what a function takes along a dimension: n elements from one on, or a single one.
type span struct {
	from   value.Value // counted from 1, by lane
	n      int
	single bool
}

// spans are the functions that take a part of a container, with what they take of its dimensions by their further arguments. The rest of
// the dimensions is taken whole.
var spans = map[string]func(shape []int, a []value.Value) ([]span, error){
	"segment": func(_ []int, a []value.Value) ([]span, error) { return runs(a[0], a[1]) },
	"head":    func(_ []int, a []value.Value) ([]span, error) { return runs(value.Int(1), a[0]) },
	"tail": func(shape []int, a []value.Value) ([]span, error) {
		n, err := a[0].Same()
		return []span{{from: value.Int(shape[0] - n + 1), n: n}}, err
	},
	"sub_col": func(_ []int, a []value.Value) ([]span, error) {
		s, err := runs(a[0], a[2])
		return append(s, span{from: a[1], n: 1, single: true}), err
	},
	"sub_row": func(_ []int, a []value.Value) ([]span, error) {
		s, err := runs(a[1], a[2])
		return append([]span{{from: a[0], n: 1, single: true}}, s...), err
	},
	"row": func(_ []int, a []value.Value) ([]span, error) { return []span{{from: a[0], n: 1, single: true}}, nil },
	"col": func(shape []int, a []value.Value) ([]span, error) {
		return []span{{from: value.Int(1), n: shape[0]}, {from: a[0], n: 1, single: true}}, nil
	},
	"block": func(_ []int, a []value.Value) ([]span, error) {
		s, err := runs(a[0], a[2])
		if err != nil {
			return nil, err
		}
		t, err := runs(a[1], a[3])
		return append(s, t...), err
	},
}

func runs(from, count value.Value) ([]span, error) {
	n, err := count.Same()
	return []span{{from: from, n: n}}, err
}

// part calls a function that takes a part of a variable, of which the rest need not be known; ok is false where it is a call as others are.
func (m *Machine) part(x *syntax.Call, spans func(shape []int, a []value.Value) ([]span, error)) (v value.Value, ok bool, err error) {
	base, s, w, ok := m.container(x.Args[0])
	if !ok {
		return v, false, nil
	}
	var args []value.Value
	for _, a := range x.Args[1:] {
		k, err := m.integer(a)
		if err != nil {
			return v, false, nil // the function says so
		}
		args = append(args, k)
	}
	list, err := spans(w.shape(), args)
	if err != nil {
		return v, true, err
	}
	out := view{base: slices.Clone(w.base)}
	for i, sp := range list {
		a, ok := along(w.axes[i], sp)
		if !ok {
			return v, false, nil
		}
		if !sp.single {
			out.axes = append(out.axes, a)
			continue
		}
		base := make([]int, max(len(a.at), len(out.base)))
		for l := range base {
			base[l] = byLane(out.base, l) + byLane(a.at, l)[0]*a.stride
		}
		out.base = base
	}
	out.axes = append(out.axes, w.axes[len(list):]...)
	if err := m.readAt(s, out.all()); err != nil {
		return v, true, err
	}
	return m.takeView(base, out, x.Type()), true, nil
}

// along applies a span to a dimension; ok is false if there are no such elements.
func along(a axis, sp span) (out axis, ok bool) {
	out = axis{n: sp.n, stride: a.stride}
	for _, f := range sp.from.F {
		i := int(f)
		if sp.n < 0 || sp.n > 0 && (i < 1 || i+sp.n-1 > a.n) {
			return out, false
		}
		at := make([]int, sp.n)
		for k := range at {
			at[k] = i - 1 + k
			if a.at != nil {
				at[k] = byLane(a.at, len(out.at))[at[k]]
			}
		}
		out.at = append(out.at, at)
	}
	return out, true
}

// container returns a variable, or a part of it by known indices, as a view; ok is false for other expressions.
func (m *Machine) container(x syntax.Expr) (base value.Value, s *slot, v view, ok bool) {
	var lists [][]syntax.Place
	for {
		i, isIndex := x.(*syntax.Index)
		if !isIndex {
			break
		}
		lists = append(lists, i.List)
		x = i.X
	}
	n, isName := x.(*syntax.Name)
	if !isName {
		return base, nil, v, false
	}
	if s = m.find(n.Name); s == nil || s.late || s.v.Type.Kind == typing.Tuple || s.v.Type.Kind.IsComplex() {
		return base, s, v, false
	}
	base = m.inLanes(s, s.v)
	v = wholeView(base.Shape)
	for _, list := range slices.Backward(lists) {
		w, err := m.index(v, list)
		if err != nil {
			return base, s, v, false
		}
		v = w
	}
	return base, s, v, true
}
