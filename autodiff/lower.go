package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// loop is a cluster made ready to run: an iteration space of few axes, and the
// operations on one tile of it. See run.go for how it is walked.
type loop struct {
	dims   []int // merged axes, last fastest
	n      int   // elements
	byRow  bool  // tiles stay within one row (the last axis)
	scalar bool  // one element

	ops   []micro
	loads []load // strided inputs, gathered into registers tile by tile
	fills []fill // single numbers, repeated into registers
	rows  []rowView
	sums  []sum
	regs  int

	blocks   int // independent parts, for any number of workers
	perBlock int // rows or elements in one
}

// operand is a place that a tile is read from or written to.
type operand struct {
	kind operandKind
	reg  int // of a register
	buf  int // of an array
	off  int // first element in the array
	row  int // index in loop.rows
}

type operandKind uint8

const (
	inReg  operandKind = iota
	inFlat             // the array runs along with the loop
	inRow              // rowView says where each row starts; contiguous or one number
	inOne              // one number for the whole loop
)

// micro is one operation on a tile.
type micro struct {
	op   *primitive
	form form
	dst  operand
	arg  [3]operand
}

// form says which operand of a micro is one number.
type form uint8

const (
	arrays   form = iota // none
	byNumber             // the second
	numberBy             // the first; the operands are exchanged
)

type load struct {
	reg, buf, off int
	strides       []int
}

// fill repeats one number over a register: once a run, or once a row.
type fill struct {
	reg    int
	from   operand
	perRow bool
}

type rowView struct {
	buf, off int
	strides  []int // of the outer axes
	step     int   // of the last axis: 1 or 0
}

// sum is a reduction at the end of each tile.
type sum struct {
	op      *primitive
	of      summand
	a, b    operand
	out     int // array
	size    int // of the result
	kind    sumKind
	strides []int // of the result, per merged axis
}

// summand is what a reduction takes of its operands.
type summand uint8

const (
	ofA            summand = iota
	ofSquares              // a^2
	ofProducts             // a*b, as an inner product
	ofProductsRows         // a*b, added to the result row by row
	ofNumberRows           // the same, where b is one number
)

// name of the reduction, as listings have it.
func (s *sum) name() string {
	return [...]string{ofA: s.op.Name, ofSquares: "sumsq", ofProducts: "dot", ofProductsRows: "fma", ofNumberRows: "fma_s"}[s.of]
}

type sumKind uint8

const (
	toOne  sumKind = iota // a single number
	perRow                // one number per row, each row in one block
	anyhow                // everything else
)

const (
	tileLen   = 512     // elements of a tile
	blockLen  = 1 << 15 // elements of an independent part
	minRow    = 32      // shortest row worth walking by rows
	regBudget = 1 << 15 // elements of all registers, to stay in the second-level cache
)

// lowering builds a loop from a cluster.
type lowering struct {
	*loop
	c       *cluster
	at      map[*value]operand
	last    map[*value]int
	outside map[*value][]outsideOperand
	freeReg []int
	fused   map[*value]bool // products that only a sum uses
	summed  map[*value]bool // read at the end of the tile
}

// outsideOperand is an input from memory as seen along some strides.
type outsideOperand struct {
	strides []int
	operand
}

func lowerCluster(c *cluster) *loop {
	l := &lowering{loop: &loop{n: c.space.Size()}, c: c, at: map[*value]operand{}, last: map[*value]int{},
		outside: map[*value][]outsideOperand{}, fused: map[*value]bool{}, summed: map[*value]bool{}}
	l.mergeAxes()
	l.scalar = l.n == 1
	l.byRow = len(l.dims) > 1 && l.dims[len(l.dims)-1] >= minRow
	l.fuseSums()
	for i, v := range c.values {
		u := l.user(v)
		for _, x := range u.in {
			if l.inside(u, x) {
				l.last[x.layout.root] = i
				if v.kindIs(reduction) {
					l.summed[x.layout.root] = true
				}
			} else if !l.fused[v] {
				// Before registers are shared, so that numbers repeated once keep theirs.
				l.reserve(l.merged(l.spaceStrides(u, x)), x)
			}
		}
	}
	for i, v := range c.values {
		switch {
		case l.fused[v]:
		case v.kindIs(reduction):
			l.emitSum(v)
		default:
			l.emit(i, v)
		}
	}
	l.partition()
	return l.loop
}

// inside reports whether x, an input of v, is made by this cluster.
func (l *lowering) inside(v, x *value) bool {
	return x.layout.root.place.cluster == l.c && sameCluster(v, x, l.c.space)
}

// user returns the value whose inputs v's operation reads: the product fused
// into v, or v.
func (l *lowering) user(v *value) *value {
	if v.is(codeSum) && l.inside(v, v.in[0]) && l.fused[v.in[0].layout.root] {
		return v.in[0].layout.root
	}
	return v
}

// fuseSums marks x*y and x^2 whose only user is a sum.
func (l *lowering) fuseSums() {
	uses := map[*value]int{}
	for _, v := range l.c.values {
		for _, x := range v.in {
			uses[x.layout.root]++
		}
	}
	for _, v := range l.c.values {
		if !v.is(codeSum) || !l.inside(v, v.in[0]) {
			continue
		}
		p := v.in[0].layout.root
		if p.place.escapes || uses[p] != 1 || !(p.is(codeMul) || p.is(codeSquare)) {
			continue
		}
		full := true // repeated inputs are cheaper as a product with one number
		for _, x := range p.in {
			full = full && squeeze(x.shape).Equal(l.c.space)
		}
		l.fused[p] = full && l.wholeRows(v) || l.overRows(v)
	}
}

// overRows reports whether the sum adds whole rows to each other.
func (l *lowering) overRows(v *value) bool {
	s := l.merged(l.sumStrides(v))
	return l.byRow && s[len(s)-1] == 1
}

// wholeRows reports whether the sum's tile is reduced as a whole.
func (l *lowering) wholeRows(v *value) bool {
	s := l.merged(l.sumStrides(v))
	return len(l.dims) == 1 && s[0] == 0 || l.byRow && s[len(s)-1] == 0
}

// spaceStrides returns the strides of x, an input of v, along the space.
func (l *lowering) spaceStrides(v, x *value) []int {
	full := spaceOf(v)
	st := alignedStrides(x.shape, x.layout.strides, full)
	out := make([]int, 0, len(l.c.space))
	for i, d := range full {
		if d != 1 {
			out = append(out, st[i])
		}
	}
	return out
}

func (l *lowering) sumStrides(v *value) []int {
	full := v.in[0].shape
	st := keptStrides(full, v.attr)
	out := make([]int, 0, len(l.c.space))
	for i, d := range full {
		if d != 1 {
			out = append(out, st[i])
		}
	}
	return out
}

// mergeAxes joins neighbouring axes that every array crosses evenly.
func (l *lowering) mergeAxes() {
	var all [][]int
	for _, v := range l.c.values {
		for _, x := range v.in {
			if !l.inside(v, x) {
				all = append(all, l.spaceStrides(v, x))
			}
		}
		if v.kindIs(reduction) {
			all = append(all, l.sumStrides(v))
		}
	}
	for i, d := range l.c.space {
		if i > 0 && !slices.ContainsFunc(all, func(s []int) bool { return s[i-1] != s[i]*d }) {
			l.dims[len(l.dims)-1] *= d
			continue
		}
		l.dims = append(l.dims, d)
	}
	if len(l.dims) == 0 {
		l.dims = []int{1}
	}
}

// merged maps strides along the space to strides along the merged axes.
func (l *lowering) merged(s []int) []int {
	out, k, n := make([]int, len(l.dims)), 0, 1
	if l.n == 0 {
		return out
	}
	for i, d := range l.c.space {
		n *= d
		out[k] = s[i]
		if n == l.dims[k] {
			k, n = k+1, 1
		}
	}
	return out
}

// reserve makes the operand of x, an outside input with strides s.
func (l *lowering) reserve(s []int, x *value) {
	if _, done := l.find(s, x); done {
		return
	}
	root, off := x.layout.root, x.layout.offset
	k := len(s) - 1
	flat, one := true, true
	for i, n := k, 1; i >= 0; i-- {
		flat = flat && (s[i] == n || l.dims[i] == 1)
		one = one && s[i] == 0
		n *= l.dims[i]
	}
	o := operand{kind: inFlat, buf: root.place.buf, off: off}
	switch {
	case l.scalar || flat && !one:
	case one:
		o.kind = inOne
	case l.byRow && (s[k] == 0 || s[k] == 1):
		l.rows = append(l.rows, rowView{buf: root.place.buf, off: off, strides: s[:k], step: s[k]})
		o = operand{kind: inRow, row: len(l.rows) - 1}
	default:
		r := l.register()
		l.loads = append(l.loads, load{reg: r, buf: root.place.buf, off: off, strides: s})
		o = operand{kind: inReg, reg: r}
	}
	l.outside[x] = append(l.outside[x], outsideOperand{s, o})
}

func (l *lowering) find(s []int, x *value) (operand, bool) {
	for _, o := range l.outside[x] {
		if slices.Equal(o.strides, s) {
			return o.operand, true
		}
	}
	return operand{}, false
}

func (l *lowering) register() int {
	if k := len(l.freeReg); k > 0 {
		r := l.freeReg[k-1]
		l.freeReg = l.freeReg[:k-1]
		return r
	}
	l.regs++
	return l.regs - 1
}

// isOne reports whether an operand is one number for the whole tile.
func (l *lowering) isOne(o operand) bool {
	return o.kind == inOne || o.kind == inRow && l.rows[o.row].step == 0
}

func (l *lowering) operandOf(v, x *value) operand {
	if l.inside(v, x) {
		return l.at[x.layout.root]
	}
	o, _ := l.find(l.merged(l.spaceStrides(v, x)), x)
	return o
}

// filled returns an operand whose tile is there in full: a single number is
// repeated into a register of its own.
func (l *lowering) filled(o operand) operand {
	if l.scalar || !l.isOne(o) {
		return o
	}
	for _, f := range l.fills {
		if f.from == o {
			return operand{kind: inReg, reg: f.reg}
		}
	}
	l.regs++ // never shared: it must last
	l.fills = append(l.fills, fill{reg: l.regs - 1, from: o, perRow: o.kind == inRow})
	return operand{kind: inReg, reg: l.regs - 1}
}

func (l *lowering) emit(i int, v *value) {
	m := micro{op: v.op}
	for k, x := range v.in {
		m.arg[k] = l.operandOf(v, x)
	}
	if m.form = l.formOf(&m); m.form == numberBy {
		m.arg[0], m.arg[1] = m.arg[1], m.arg[0]
	}
	if m.form == arrays {
		for k := range v.in {
			m.arg[k] = l.filled(m.arg[k])
		}
	}
	l.release(i, v)
	if v.place.escapes {
		m.dst = operand{kind: inFlat, buf: v.place.buf}
	} else {
		m.dst = operand{kind: inReg, reg: l.register()}
	}
	l.at[v] = m.dst
	l.ops = append(l.ops, m)
}

// formOf returns the form in which m runs as its operands are.
func (l *lowering) formOf(m *micro) form {
	if m.op.Arity != 2 || l.scalar {
		return arrays
	}
	switch a, b := l.isOne(m.arg[0]), l.isOne(m.arg[1]); {
	case b && !a && m.op.ByNumber != "":
		return byNumber
	case a && !b && m.op.NumberBy != "":
		return numberBy
	}
	return arrays
}

// release frees the registers that value i uses last. What a sum reads is not
// shared, since sums come at the end of the tile.
func (l *lowering) release(i int, v *value) {
	for _, x := range v.in {
		r := x.layout.root
		if o, ok := l.at[r]; ok && l.inside(v, x) && l.last[r] == i && o.kind == inReg && !l.summed[r] {
			l.freeReg = append(l.freeReg, o.reg)
			delete(l.at, r)
		}
	}
}

func (l *lowering) emitSum(v *value) {
	s := sum{op: v.op, out: v.place.buf, size: v.size(), strides: l.merged(l.sumStrides(v))}
	u := l.user(v)
	switch {
	case u != v && l.overRows(v):
		l.sumProducts(&s, u)
	case u != v && u.is(codeSquare):
		s.of = ofSquares
	case u != v:
		s.of, s.b = ofProducts, l.filled(l.operandOf(u, u.in[1]))
	}
	if u == v || !l.overRows(v) {
		s.a = l.filled(l.operandOf(u, u.in[0]))
	}
	k := len(l.dims) - 1
	switch {
	case s.size == 1:
		s.kind = toOne
	case l.byRow && s.strides[k] == 0 && packed(tensor.Shape(l.dims[:k]), s.strides[:k]):
		s.kind = perRow
	default:
		s.kind = anyhow
	}
	l.sums = append(l.sums, s)
}

// sumProducts makes s the sum over rows of a product or square u.
func (l *lowering) sumProducts(s *sum, u *value) {
	s.of = ofProductsRows
	s.a = l.operandOf(u, u.in[0])
	s.b = l.operandOf(u, u.in[len(u.in)-1])
	if l.isOne(s.a) {
		s.a, s.b = s.b, s.a
	}
	if s.a = l.filled(s.a); l.isOne(s.b) {
		s.of = ofNumberRows
	}
}

// partition cuts the loop into blocks that depend on the shape alone.
func (l *lowering) partition() {
	total, each := l.n, blockLen
	if l.byRow {
		c := l.dims[len(l.dims)-1]
		total, each = l.n/c, max(1, blockLen/c)
	}
	for _, s := range l.sums {
		if s.kind == anyhow && l.n > 0 { // partial results must stay small beside the data
			each = max(each, total*4*s.size/l.n)
		}
	}
	l.perBlock = max(1, each)
	l.blocks = max(1, (total+l.perBlock-1)/l.perBlock)
}

// tile returns the number of elements of a tile: fewer where there are many
// registers.
func (l *loop) tile() int {
	t := tileLen
	for t > 64 && t*l.regs > regBudget {
		t /= 2
	}
	return min(t, max(l.n, 1))
}

// room is how many elements a machine keeps for the sums of a loop.
func (l *loop) room() (n int) {
	for _, s := range l.sums {
		switch {
		case s.kind == toOne:
			n += l.blocks
		case s.kind == anyhow && l.blocks > 1:
			n += l.blocks * s.size
		}
	}
	return n
}
