// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

// Error functions. With q = (a-K)/(a+K) one polynomial gives (1+2a) exp(a^2) erfc(a) for every a >= 0, after
// Shepherd and Laframboise, Math. Comp. 36 (1981) 249.

func errorFunctions() []kernel {
	return elementary(map[string]func(machine, vec) vec{"erf": machine.erf, "erfc": machine.erfc})
}

// erfcOf is erfc(a) for 0 <= a below the underflow.
func (m machine) erfcOf(a vec) vec {
	one := m.load(m.num(1))
	K := m.pick(erfcK64, erfcK32)
	r := m.div(one, m.add(a, K))
	q := m.fnma(m.pick(2*erfcK64, 2*erfcK32), r, one)
	t := m.fnma(m.add(q, one), K, a)
	q = m.fma(r, m.fnma(q, a, t), q) // the rounding error of the quotient
	p := m.poly(q, m.mul(q, q), m.table(erfc64, erfc32))
	a2 := m.add(a, a)
	d := m.div(one, m.add(a2, one))
	y := m.fma(p, d, d)
	y = m.fma(m.add(m.sub(p, y), m.fnma(y, a2, one)), d, y)

	s := m.mul(a, a)
	hi, lo, kf := m.expParts(m.neg(s))
	lost := m.fnma(a, a, s) // s - a^2, exactly
	return m.scaled(m.fma(y, hi, m.mul(y, m.fma(hi, lost, lo))), kf)
}

// erfSmall is erf(a) for 0 <= a <= 1.
func (m machine) erfSmall(a vec) vec {
	z := m.mul(a, a)
	return m.fma(m.poly(z, m.mul(z, z), m.table(erf64, erf32)), a, a)
}

func (m machine) erfc(x vec) vec {
	a := m.min(m.pick(28, 11), m.abs(x))
	y := m.blend(m.cmp(a, lt, m.num(0.5)), m.sub(m.num(1), m.erfSmall(a)), m.erfcOf(a))
	return m.blend(m.cmp(x, lt, m.num(0)), m.sub(m.num(2), y), y)
}

func (m machine) erf(x vec) vec {
	a := m.min(m.num(6), m.abs(x))
	y := m.blend(m.cmp(a, lt, m.num(1)), m.erfSmall(a), m.sub(m.num(1), m.erfcOf(a)))
	return m.or(y, m.and(x, m.sign()))
}
