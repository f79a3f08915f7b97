package autodiff

import (
	"math"
)

// scalarOp is one operation on single numbers.
type scalarOp[T real] struct {
	code    scalarCode
	op      *primitive
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
)

// scalarCodes are the operations that runScalar writes out.
var scalarCodes = map[opCode]scalarCode{codeAdd: sAdd, codeSub: sSub, codeMul: sMul, codeDiv: sDiv, codeNeg: sNeg, codeSquare: sSquare,
	codeReciprocal: sReciprocal, codeExp: sExp, codeLog: sLog, codeSqrt: sSqrt, codeCopy: sCopy}

func (w *worker[T]) bindScalar(b *boundLoop[T], o micro) scalarOp[T] {
	code, ok := scalarCodes[o.op.Code]
	if !ok {
		code = scalarCode(o.op.Arity - 1)
	}
	p := func(x operand) *T { return (*T)(w.at(b, x).base) }
	out := scalarOp[T]{code: code, op: o.op, dst: p(o.dst), a: p(o.arg[0])}
	if o.op.Arity > 1 {
		out.b = p(o.arg[1])
	}
	if o.op.Arity > 2 {
		out.c = p(o.arg[2])
	}
	return out
}

func runScalar[T real](ops []scalarOp[T]) {
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
			*o.dst = T(math.Log(float64(*o.a)))
		case sSqrt:
			*o.dst = T(math.Sqrt(float64(*o.a)))
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
