// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Operation is what an entry of a List does.
type Operation uint8

const (
	load Operation = iota
	constant
	store
	call
	Add
	Sub
	Mul
	Div
	Sqrt
	Neg
	Abs
	compare // all bits 1 or 0, by the predicate at
	and     // of bits
	choose
	// on lanes
	array
	loadLanes
	storeLanes
	spread
	total
)

// Memory names one of the two arrays that a List reads and writes.
type Memory uint8

const (
	First Memory = iota
	Second
)

// Value is the result of an entry of a List.
type Value int32

// List holds operations in the order in which they run.
type List struct {
	ops       []entry
	constants map[uint64]Value
	spread    map[Value]Value
	arrays    [][Lanes]uint64 // bits of constants with lanes
	known     map[[Lanes]uint64]Value
}

type entry struct {
	do       Operation
	mem      Memory
	in       [3]Value
	operands int8
	n        int8    // lanes that are loaded, stored or added up
	lanes    bool    // whether the result has lanes
	at       int32   // element of the memory, or predicate
	x        float64 // value of a constant
	f        *compiler.Op
}

// Len returns the number of operations.
func (l *List) Len() int { return len(l.ops) }

// Calls returns the number of calls of functions of Go.
func (l *List) Calls() (n int) {
	for i := range l.ops {
		if l.ops[i].do == call {
			n++
		}
	}
	return n
}

func (l *List) add(e entry) Value {
	l.ops = append(l.ops, e)
	return Value(len(l.ops) - 1)
}

// Load returns an element of a memory as it is at this place of the list.
func (l *List) Load(m Memory, at int) Value { return l.add(entry{do: load, mem: m, at: int32(at)}) }

// Store writes v to an element of a memory.
func (l *List) Store(m Memory, at int, v Value) {
	l.add(entry{do: store, mem: m, at: int32(at), in: [3]Value{v}, operands: 1})
}

// Constant returns a number.
func (l *List) Constant(x float64) Value {
	bits := math.Float64bits(x)
	v, known := l.constants[bits]
	if !known {
		if l.constants == nil {
			l.constants = map[uint64]Value{}
		}
		v = l.add(entry{do: constant, x: x})
		l.constants[bits] = v
	}
	return v
}

// Do returns the result of an operation on its operands, lane by lane if one of them has lanes.
func (l *List) Do(o Operation, in ...Value) Value {
	e := entry{do: o, operands: int8(len(in))}
	copy(e.in[:], in)
	for _, v := range in {
		e.lanes = e.lanes || l.ops[v].lanes
	}
	for i := range in {
		if e.lanes {
			e.in[i] = l.Spread(in[i])
		}
	}
	return l.add(e)
}

// Choose returns x where count is above 0, and otherwise y.
func (l *List) Choose(count, x, y Value) Value {
	if x == y {
		return x
	}
	return l.Do(choose, l.compare(above, count, l.Constant(0)), x, y)
}

// Predicates of comparisons, as VCMPSD has them. Only notEqual holds for NaN.
const (
	equal    = 0x00
	notEqual = 0x04
	below    = 0x11
	notAbove = 0x12
	notBelow = 0x1d
	above    = 0x1e
)

// predicates are those of the operations that compare.
var predicates = map[string]int32{"less": below, "less_equal": notAbove, "greater": above, "greater_equal": notBelow, "equal": equal, "not_equal": notEqual}

// compare returns a mask: all bits 1 where x and y are as the predicate says, else 0.
func (l *List) compare(predicate int32, x, y Value) Value {
	v := l.Do(compare, x, y)
	l.ops[v].at = predicate
	return v
}

// where returns x where c is not 0, NaN included, and otherwise y.
func (l *List) where(c, x, y Value) Value {
	mask := l.ops[c].in[0]
	if l.ops[c].do != and {
		mask = l.compare(notEqual, c, l.Constant(0))
	}
	return l.Do(choose, mask, x, y)
}

// Call returns the function of an elementwise operation.
func (l *List) Call(f *compiler.Op, in ...Value) Value {
	e := entry{do: call, f: f, operands: int8(len(in))}
	copy(e.in[:], in)
	return l.add(e)
}

// of maps the operations that have machine code.
var of = map[compiler.Code]Operation{compiler.Add: Add, compiler.Sub: Sub, compiler.Mul: Mul, compiler.Div: Div, compiler.Sqrt: Sqrt, compiler.Neg: Neg, compiler.Abs: Abs}

// Apply returns the result of an elementwise operation of the compiler.
func (l *List) Apply(op *compiler.Op, in ...Value) Value {
	switch op.Code {
	case compiler.Copy:
		return in[0]
	case compiler.Square:
		return l.Do(Mul, in[0], in[0])
	case compiler.Reciprocal:
		return l.Do(Div, l.Constant(1), in[0])
	case compiler.Where:
		return l.where(in[0], in[1], in[2])
	}
	if p, ok := predicates[op.Name]; ok && op.Truth {
		return l.Do(and, l.compare(p, in[0], in[1]), l.Constant(1))
	}
	if o, ok := of[op.Code]; ok {
		return l.Do(o, in...)
	}
	return l.Call(op, in...)
}
