// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

// lowering builds a loop from a cluster.
type lowering struct {
	*Loop
	c       *cluster
	made    []lowered // by position in the cluster
	outside map[*Value][]outsideOperand
	freeReg []int
}

// lowered is what a lowering knows about a value of its cluster.
type lowered struct {
	at     Operand
	gone   bool // whether another value has the register
	uses   int  // how often a value of the cluster reads it, if there are sums
	last   int  // position of the last value that reads it
	fused  bool // whether it is a product that only a sum uses
	summed bool // whether it is read at the end of the tile
}

// of returns what is known about a value of the cluster.
func (l *lowering) of(v *Value) *lowered { return &l.made[v.Place.slot] }

// outsideOperand is an input from memory as seen along some strides.
type outsideOperand struct {
	strides []int
	Operand
}

// lower makes the loop of a cluster with the memory of earlier ones.
func (l *lowering) lower(c *cluster) *Loop {
	l.Loop, l.c, l.freeReg = &Loop{N: c.space.Size()}, c, l.freeReg[:0]
	clear(l.outside)
	l.made = append(l.made[:0], make([]lowered, len(c.values))...)
	for i, v := range c.values {
		v.Place.slot = i
	}
	l.Ops = make([]Instruction, 0, len(c.values))
	l.mergeAxes()
	l.Scalar = l.N == 1
	l.ByRow = len(l.Dims) > 1 && l.Dims[len(l.Dims)-1] >= minRow && !l.gathers()
	l.fuseSums()
	for i, v := range c.values {
		u := l.user(v)
		for _, x := range u.In {
			if l.inside(u, x) {
				m := l.of(x.Layout.Root)
				m.last = i
				m.summed = m.summed || v.kindIs(Reduction)
			} else if !l.of(v).fused {
				// Before registers are shared, so that numbers repeated once keep theirs.
				l.reserve(l.merged(l.spaceStrides(u, x)), x)
			}
		}
	}
	for i, v := range c.values {
		switch {
		case l.of(v).fused:
		case v.kindIs(Reduction):
			l.emitSum(v)
		default:
			l.emit(i, v)
		}
	}
	l.partition()
	return l.Loop
}

// inside reports whether x, an input of v, is made by this cluster.
func (l *lowering) inside(v, x *Value) bool {
	return x.Layout.Root.Place.cluster == l.c && sameCluster(v, x, l.c.space)
}

func (l *lowering) emit(i int, v *Value) {
	m := Instruction{Op: v.Op}
	for k, x := range v.In {
		m.Arg[k] = l.operandOf(v, x)
	}
	if m.Form = l.formOf(&m); m.Form == NumberBy {
		m.Arg[0], m.Arg[1] = m.Arg[1], m.Arg[0]
	}
	if m.Form == Arrays {
		for k := range v.In {
			m.Arg[k] = l.filled(m.Arg[k])
		}
	}
	l.release(i, v)
	if v.Place.escapes {
		m.Dst = Operand{Kind: InStep, Buf: v.Place.Buf}
	} else {
		m.Dst = Operand{Kind: InRegister, Reg: l.register()}
	}
	l.of(v).at = m.Dst
	l.Ops = append(l.Ops, m)
}

// formOf returns the form in which m runs as its operands are.
func (l *lowering) formOf(m *Instruction) Form {
	if m.Op.Arity != 2 || l.Scalar {
		return Arrays
	}
	switch a, b := l.isOne(m.Arg[0]), l.isOne(m.Arg[1]); {
	case b && !a && m.Op.ByNumber != "":
		return ByNumber
	case a && !b && m.Op.NumberBy != "":
		return NumberBy
	}
	return Arrays
}

// release frees the registers that value i uses last. What a sum reads is not
// shared, since sums come at the end of the tile.
func (l *lowering) release(i int, v *Value) {
	for _, x := range v.In {
		if !l.inside(v, x) {
			continue
		}
		if m := l.of(x.Layout.Root); m.last == i && m.at.Kind == InRegister && !m.summed && !m.gone {
			l.freeReg = append(l.freeReg, m.at.Reg)
			m.gone = true
		}
	}
}

// partition cuts the loop into blocks that depend on the shape alone.
func (l *lowering) partition() {
	total, each := l.N, blockLen
	if l.ByRow {
		c := l.Dims[len(l.Dims)-1]
		total, each = l.N/c, max(1, blockLen/c)
	}
	for _, s := range l.Sums {
		if s.Kind == Scattered && l.N > 0 { // partial results must stay small beside the data
			each = max(each, total*4*s.Size/l.N)
		}
	}
	l.PerBlock = max(1, each)
	l.Blocks = max(1, (total+l.PerBlock-1)/l.PerBlock)
}
