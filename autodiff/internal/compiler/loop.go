package compiler

// Loop is a cluster made ready to run: an iteration space of few axes, and the
// operations on one tile of it. An executor walks it in blocks, and a block tile by tile.
type Loop struct {
	Dims   []int // merged axes, last fastest
	N      int   // elements
	ByRow  bool  // tiles stay within one row (the last axis)
	Scalar bool  // one element

	Ops   []Instruction
	Loads []load // strided inputs, gathered into registers tile by tile
	Fills []fill // single numbers, repeated into registers
	Rows  []rowView
	Sums  []Reduce
	Regs  int

	Blocks   int // independent parts, for any number of workers
	PerBlock int // rows or elements in one
}

// Operand is a place that a tile is read from or written to.
type Operand struct {
	Kind OperandKind
	Reg  int // of a register
	Buf  int // of an array
	Off  int // first element in the array
	Row  int // index in Loop.Rows
}

// OperandKind says what an operand is.
type OperandKind uint8

const (
	InRegister OperandKind = iota
	InStep                 // the array runs along with the loop
	InRow                  // rowView says where each row starts; contiguous or one number
	InNumber               // one number for the whole loop
)

// Instruction is one operation on a tile.
type Instruction struct {
	Op   *Op
	Form Form
	Dst  Operand
	Arg  [3]Operand
}

// Form says which operand of an Instruction is one number.
type Form uint8

const (
	Arrays   Form = iota // none
	ByNumber             // the second
	NumberBy             // the first; the operands are exchanged
)

// load is a strided input of a register.
type load struct {
	Reg, Buf, Off int
	Strides       []int
}

// fill repeats one number over a register: once a run, or once a row.
type fill struct {
	Reg    int
	From   Operand
	PerRow bool
}

// rowView is an array that each row reads from a place of its own.
type rowView struct {
	Buf, Off int
	Strides  []int // of the outer axes
	Step     int   // of the last axis: 1 or 0
}

// Reduce is a reduction at the end of each tile.
type Reduce struct {
	Op      *Op
	Of      Summand
	A, B    Operand
	Out     int // array
	Size    int // of the result
	Kind    sumKind
	Strides []int // of the result, per merged axis
}

// Summand is what a reduction takes of its operands.
type Summand uint8

const (
	Numbers     Summand = iota
	Squares             // a^2
	Products            // a*b, as an inner product
	RowProducts         // a*b, added to the result row by row
	RowNumbers          // the same, where b is one number
)

// name of the reduction, as listings have it.
func (s *Reduce) name() string {
	return [...]string{Numbers: s.Op.Name, Squares: "sumsq", Products: "dot", RowProducts: "fma", RowNumbers: "fma_s"}[s.Of]
}

// sumKind says where the numbers of a reduction go.
type sumKind uint8

const (
	Total     sumKind = iota // a single number
	PerRow                   // one number per row, each row in one block
	Scattered                // everything else
)

const (
	tileLen   = 512     // elements of a tile
	blockLen  = 1 << 15 // elements of an independent part
	minRow    = 32      // shortest row worth walking by rows
	regBudget = 1 << 15 // elements of all registers, to stay in the second-level cache
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

// room is how many elements a machine keeps for the sums of a loop.
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
