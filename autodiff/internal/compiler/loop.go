// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

// Loop is a cluster made ready to run: an iteration space of few axes, and the
// operations on one tile of it. An executor walks it in blocks, and a block tile by tile.
type Loop struct {
	Dims   []int // lengths of the merged axes, last fastest
	N      int   // number of elements
	ByRow  bool  // whether tiles stay within one row (the last axis)
	Scalar bool  // whether there is only one element

	Ops   []Instruction
	Loads []Load // strided inputs, gathered into registers tile by tile
	Fills []Fill // single numbers, repeated into registers
	Rows  []RowView
	Sums  []Reduce
	Regs  int

	Blocks   int // number of independent blocks, the same for any number of workers
	PerBlock int // rows or elements in one block
}

// Operand is a place that a tile is read from or written to.
type Operand struct {
	Kind OperandKind
	Reg  int // index of a register
	Buf  int // index of an array
	Off  int // index of the first element in the array
	Row  int // index in Loop.Rows
}

// OperandKind says what an operand is.
type OperandKind uint8

const (
	InRegister OperandKind = iota
	InStep                 // an array that runs along with the loop
	InRow                  // an array whose rows start where a RowView says; contiguous or one number
	InNumber               // one number for the whole loop
)

// Instruction is one operation on a tile.
type Instruction struct {
	Op   *Op
	Form Form
	Dst  Operand
	Arg  [3]Operand
}

// Form says which operand of an Instruction is a single number.
type Form uint8

const (
	Arrays   Form = iota // no operand is a single number
	ByNumber             // the second operand is a single number
	NumberBy             // the first operand is a single number; the operands are exchanged
)

// Load gathers a strided input into a register.
type Load struct {
	Reg, Buf, Off int
	Strides       []int
}

// Fill repeats one number over a register: once a run, or once a row.
type Fill struct {
	Reg    int
	From   Operand
	PerRow bool
}

// RowView is an array in which each row starts at its own place.
type RowView struct {
	Buf, Off int
	Strides  []int // strides of the outer axes
	Step     int   // stride of the last axis: 1 or 0
}

// Reduce is a reduction at the end of each tile.
type Reduce struct {
	Op      *Op
	Of      Summand
	A, B    Operand
	Out     int // array that receives the result
	Size    int // number of elements of the result
	Kind    SumKind
	Strides []int // strides of the result, per merged axis
}

// Summand says what a reduction computes from its operands.
type Summand uint8

const (
	Numbers     Summand = iota
	Squares             // squares, a^2
	Products            // products, a*b, as an inner product
	RowProducts         // products, a*b, added to the result row by row
	RowNumbers          // products, a*b, row by row, with a single number b
)

// name of the reduction, as listings have it.
func (s *Reduce) name() string {
	return [...]string{Numbers: s.Op.Name, Squares: "sumsq", Products: "dot", RowProducts: "fma", RowNumbers: "fma_s"}[s.Of]
}

// SumKind says where the results of a reduction go.
type SumKind uint8

const (
	Total     SumKind = iota // one number for the whole array
	PerRow                   // one number per row, each row in one block
	Scattered                // any other result
)

const (
	tileLen   = 512     // elements of a tile
	blockLen  = 1 << 15 // elements of an independent block
	minRow    = 32      // shortest row that is worth walking row by row
	longRow   = 128     // longest row of which several may make one tile
	regBudget = 1 << 15 // elements of all registers together, chosen to stay in the second-level cache
)

// Tile returns the number of elements of a tile: fewer where there are many
// registers.
func (l *Loop) Tile() int {
	t := tileLen
	for t > 64 && t*l.Regs > regBudget {
		t /= 2
	}
	return min(t, max(l.N, 1))
}

// room returns the number of elements that a machine keeps for the sums of a loop.
func (l *Loop) room() (n int) {
	for _, s := range l.Sums {
		switch {
		case s.Kind == Total:
			n += l.Blocks
		case s.Kind == Scattered && l.Blocks > 1:
			n += l.Blocks * s.Size
		}
	}
	return n
}
