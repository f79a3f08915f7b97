// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import "slices"

// reserve makes the operand of x, an outside input with strides s.
func (l *lowering) reserve(s []int, x *Value) {
	if _, done := l.find(s, x); done {
		return
	}
	root, off := x.Layout.Root, x.Layout.Offset
	k := len(s) - 1
	flat, one := true, true
	for i, n := k, 1; i >= 0; i-- {
		flat = flat && (s[i] == n || l.Dims[i] == 1)
		one = one && s[i] == 0
		n *= l.Dims[i]
	}
	o := Operand{Kind: InStep, Buf: root.Place.Buf, Off: off}
	switch {
	case l.Scalar || flat && !one:
	case one:
		o.Kind = InNumber
	case l.ByRow && (s[k] == 0 || s[k] == 1):
		l.Rows = append(l.Rows, RowView{Buf: root.Place.Buf, Off: off, Strides: s[:k], Step: s[k]})
		o = Operand{Kind: InRow, Row: len(l.Rows) - 1}
	default:
		r := l.register()
		l.Loads = append(l.Loads, Load{Reg: r, Buf: root.Place.Buf, Off: off, Strides: s})
		o = Operand{Kind: InRegister, Reg: r}
	}
	l.outside[x] = append(l.outside[x], outsideOperand{s, o})
}

func (l *lowering) find(s []int, x *Value) (Operand, bool) {
	for _, o := range l.outside[x] {
		if slices.Equal(o.strides, s) {
			return o.Operand, true
		}
	}
	return Operand{}, false
}

func (l *lowering) register() int {
	if k := len(l.freeReg); k > 0 {
		r := l.freeReg[k-1]
		l.freeReg = l.freeReg[:k-1]
		return r
	}
	l.Regs++
	return l.Regs - 1
}

// isOne reports whether an operand is one number for the whole tile.
func (l *lowering) isOne(o Operand) bool {
	return o.Kind == InNumber || o.Kind == InRow && l.Rows[o.Row].Step == 0
}

func (l *lowering) operandOf(v, x *Value) Operand {
	if l.inside(v, x) {
		return l.of(x.Layout.Root).at
	}
	o, _ := l.find(l.merged(l.spaceStrides(v, x)), x)
	return o
}

// filled returns an operand whose tile is there in full: a single number is
// repeated into a register of its own.
func (l *lowering) filled(o Operand) Operand {
	if l.Scalar || !l.isOne(o) {
		return o
	}
	for _, f := range l.Fills {
		if f.From == o {
			return Operand{Kind: InRegister, Reg: f.Reg}
		}
	}
	l.Regs++ // never shared: it must last
	l.Fills = append(l.Fills, Fill{Reg: l.Regs - 1, From: o, PerRow: o.Kind == InRow})
	return Operand{Kind: InRegister, Reg: l.Regs - 1}
}
