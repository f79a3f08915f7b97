package autodiff

// primitive is what the compiler and the executors know of an operation.
type primitive struct {
	Name        string
	Arity       int // number of inputs; -1 when it varies
	Kind        opKind
	Code        opCode // of an operation that the compiler itself knows
	Commutative bool
	// The elementwise function, or how a reduction combines two numbers, by arity.
	F1 func(x float64) float64
	F2 func(x, y float64) float64
	F3 func(x, y, z float64) float64
	// Kernel names the form in package kernels, if there is one; ByNumber that with one
	// number as the second operand, NumberBy with one number as the first, which takes
	// the operands exchanged.
	Kernel, ByNumber, NumberBy string
}

// opKind says how an operation works.
type opKind uint8

const (
	elementwise opKind = iota
	reduction          // sum, max, min over axes
	view               // the same elements at other places: reshape, permute, slice, broadcast
	step               // runs alone, on contiguous arrays
	barrier            // its first input, but not before the second is known
)

// opCode names the operations that the compiler rewrites, views and makes itself.
type opCode uint8

const (
	noCode opCode = iota
	codeAdd
	codeSub
	codeMul
	codeDiv
	codePow
	codeNeg
	codeSquare
	codeReciprocal
	codeAbs
	codeExp
	codeExpm1
	codeLog
	codeLog1p
	codeSqrt
	codeCos
	codeCosh
	codeStop
	codeMaximum
	codeMinimum
	codeSum
	codeMax
	codeMin
	codeReshape
	codePermute
	codeBroadcast
	codeSlice
	codeMatmul
	codeCopy // puts the elements of a view in order; only the compiler makes it
	codes
)

// coded holds the operation of each code.
var coded [codes]*primitive

func init() {
	coded[codeCopy] = &primitive{Name: "copy", Arity: 1, Code: codeCopy, F1: func(x float64) float64 { return x }}
}

// define makes op known by its code.
func (op *primitive) define() *primitive {
	if op.Code != noCode {
		coded[op.Code] = op
	}
	return op
}

// Eval returns the elementwise function at one point.
func (op *primitive) Eval(x ...float64) float64 {
	switch op.Arity {
	case 1:
		return op.F1(x[0])
	case 2:
		return op.F2(x[0], x[1])
	}
	return op.F3(x[0], x[1], x[2])
}

// combines returns the elementwise operation by which two partial results of a
// reduction become one.
func (op *primitive) combines() *primitive {
	switch op.Code {
	case codeMax:
		return coded[codeMaximum]
	case codeMin:
		return coded[codeMinimum]
	}
	return coded[codeAdd]
}
