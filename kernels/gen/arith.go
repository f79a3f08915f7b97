// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type vec = reg.VecVirtual

// arithmetic lists the kernels of a few instructions.
func arithmetic() []kernel {
	var ks []kernel
	unary := func(name string, f func(m machine, a vec) vec) {
		ks = append(ks, kernel{name: name, args: []string{"a"}, scalar: -1, cheap: true,
			body: func(m machine, x []vec) vec { return f(m, x[0]) }})
	}
	binary := func(name string, f func(m machine, a, b vec) vec) {
		body := func(m machine, x []vec) vec { return f(m, x[0], x[1]) }
		ks = append(ks, kernel{name: name, args: []string{"a", "b"}, scalar: -1, cheap: true, body: body})
	}
	scalar := func(name string, f func(m machine, a, b vec) vec) {
		body := func(m machine, x []vec) vec { return f(m, x[0], x[1]) }
		ks = append(ks, kernel{name: name, args: []string{"a", "b"}, scalar: 1, cheap: true, body: body})
	}
	unary("neg", func(m machine, a vec) vec { return m.neg(a) })
	unary("abs", func(m machine, a vec) vec { return m.abs(a) })
	unary("sqrt", func(m machine, a vec) vec { return m.sqrt(a) })
	unary("rsqrt", func(m machine, a vec) vec { return m.div(m.num(1), m.sqrt(a)) })
	unary("reciprocal", func(m machine, a vec) vec { return m.div(m.num(1), a) })
	unary("square", func(m machine, a vec) vec { return m.mul(a, a) })
	unary("floor", func(m machine, a vec) vec { return m.round(a, 1) })
	unary("ceil", func(m machine, a vec) vec { return m.round(a, 2) })
	unary("trunc", func(m machine, a vec) vec { return m.round(a, 3) })

	both := func(name string, f func(m machine, a, b vec) vec) {
		binary(name, f)
		scalar(name+"_s", f)
	}
	both("add", func(m machine, a, b vec) vec { return m.add(a, b) })
	both("sub", func(m machine, a, b vec) vec { return m.sub(a, b) })
	both("mul", func(m machine, a, b vec) vec { return m.mul(a, b) })
	binary("div", func(m machine, a, b vec) vec { return m.div(a, b) })
	ks = append(ks, divideByOne())
	both("maximum", func(m machine, a, b vec) vec { return m.extreme(a, b, true) })
	both("minimum", func(m machine, a, b vec) vec { return m.extreme(a, b, false) })
	scalar("rsub_s", func(m machine, a, b vec) vec { return m.sub(b, a) })
	scalar("rdiv_s", func(m machine, a, b vec) vec { return m.div(b, a) })
	for name, pred := range map[string]int{"less": lt, "less_equal": le, "greater": gt, "greater_equal": ge,
		"equal": eq, "not_equal": ne} {
		binary(name, func(m machine, a, b vec) vec {
			k := m.cmp(a, pred, b)
			if m.wide {
				return m.blend(k, m.num(1), m.num(0))
			}
			return m.and(k.(vec), m.num(1))
		})
	}

	fma := func(m machine, x []vec) vec { return m.fma(x[0], x[1], x[2]) }
	where := func(m machine, x []vec) vec { return m.blend(m.cmp(x[0], ne, m.num(0)), x[1], x[2]) }
	abc := []string{"a", "b", "c"}
	return append(ks,
		kernel{name: "fma", args: abc, scalar: -1, cheap: true, body: fma},
		kernel{name: "fma_s", args: abc, scalar: 1, cheap: true, body: fma},
		kernel{name: "where", args: abc, scalar: -1, cheap: true, body: where})
}

// extreme is the maximum or minimum of IEEE 754-2019: a NaN operand gives NaN, and +0 is above -0.
func (m machine) extreme(a, b vec, largest bool) vec {
	which := operand.U8(4)
	if largest {
		which = 5
	}
	r := m.new()
	if m.neon { // one instruction, which stands here as the one of AVX-512 that comes closest
		m.do("range", which, b, a, r)
		return r
	}
	nan := m.cmp(a, unord, b)
	switch {
	case m.wide:
		m.do("range", which, b, a, r)
	case largest: // the two orders differ only for zeros and NaN; and keeps +0
		r = m.and(m.max(a, b), m.max(b, a))
	default:
		r = m.or(m.min(a, b), m.min(b, a))
	}
	return m.blend(nan, m.add(a, b), r)
}
