// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/internal/subnormal"
)

// scalarOp is one operation on single numbers.
type scalarOp[T Real] struct {
	code    scalarCode
	op      *compiler.Op
	dst     *T
	a, b, c *T
}

type scalarCode uint8

const (
	sCall1 scalarCode = iota
	sCall2
	sCall3
	sAdd
	sSub
	sMul
	sDiv
	sNeg
	sSquare
	sReciprocal
	sExp
	sLog
	sSqrt
	sCopy
	// Operations that are made of two.
	sMulAdd     // a*b + c
	sMulSub     // a*b - c
	sSubMul     // c - a*b
	sMulMul     // a*b*c
	sAddAdd     // a + b + c
	sAddMul     // (a + b)*c
	sSubThenMul // (a - b)*c
)

// scalarCodes are the operations that runScalar writes out.
var scalarCodes = map[compiler.Code]scalarCode{compiler.Add: sAdd, compiler.Sub: sSub, compiler.Mul: sMul, compiler.Div: sDiv, compiler.Neg: sNeg, compiler.Square: sSquare,
	compiler.Reciprocal: sReciprocal, compiler.Exp: sExp, compiler.Log: sLog, compiler.Sqrt: sSqrt, compiler.Copy: sCopy}

func (w *worker[T]) bindScalar(b *boundLoop[T], o compiler.Instruction) scalarOp[T] {
	code, ok := scalarCodes[o.Op.Code]
	if !ok {
		code = scalarCode(o.Op.Arity - 1)
	}
	p := func(x compiler.Operand) *T { return (*T)(w.at(b, x).base) }
	out := scalarOp[T]{code: code, op: o.Op, dst: p(o.Dst), a: p(o.Arg[0])}
	if o.Op.Arity > 1 {
		out.b = p(o.Arg[1])
	}
	if o.Op.Arity > 2 {
		out.c = p(o.Arg[2])
	}
	return out
}

func runScalar[T Real](ops []scalarOp[T]) {
	for i := range ops {
		o := &ops[i]
		switch o.code {
		case sAdd:
			*o.dst = *o.a + *o.b
		case sSub:
			*o.dst = *o.a - *o.b
		case sMul:
			*o.dst = *o.a * *o.b
		case sDiv:
			*o.dst = *o.a / *o.b
		case sNeg:
			*o.dst = -*o.a
		case sSquare:
			*o.dst = *o.a * *o.a
		case sReciprocal:
			*o.dst = 1 / *o.a
		case sExp:
			*o.dst = T(math.Exp(float64(*o.a)))
		case sLog:
			*o.dst = T(subnormal.Log(float64(*o.a)))
		case sSqrt:
			*o.dst = T(math.Sqrt(float64(*o.a)))
		case sMulAdd:
			*o.dst = T(*o.a**o.b) + *o.c
		case sMulSub:
			*o.dst = T(*o.a**o.b) - *o.c
		case sSubMul:
			*o.dst = *o.c - T(*o.a**o.b)
		case sMulMul:
			*o.dst = *o.a * *o.b * *o.c
		case sAddAdd:
			*o.dst = *o.a + *o.b + *o.c
		case sAddMul:
			*o.dst = (*o.a + *o.b) * *o.c
		case sSubThenMul:
			*o.dst = (*o.a - *o.b) * *o.c
		case sCopy:
			*o.dst = *o.a
		case sCall1:
			*o.dst = T(o.op.F1(float64(*o.a)))
		case sCall2:
			*o.dst = T(o.op.F2(float64(*o.a), float64(*o.b)))
		default:
			*o.dst = T(o.op.F3(float64(*o.a), float64(*o.b), float64(*o.c)))
		}
	}
}
