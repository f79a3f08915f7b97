// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

// lowering builds a loop from a cluster.
type lowering struct {
	*Loop
	c       *cluster
	at      map[*Value]Operand
	last    map[*Value]int
	outside map[*Value][]outsideOperand
	freeReg []int
	fused   map[*Value]bool // products that only a sum uses
	summed  map[*Value]bool // values that are read at the end of the tile
}

// outsideOperand is an input from memory as seen along some strides.
type outsideOperand struct {
	strides []int
	Operand
}

func lowerCluster(c *cluster) *Loop {
	l := &lowering{Loop: &Loop{N: c.space.Size()}, c: c, at: map[*Value]Operand{}, last: map[*Value]int{},
		outside: map[*Value][]outsideOperand{}, fused: map[*Value]bool{}, summed: map[*Value]bool{}}
	l.Ops = make([]Instruction, 0, len(c.values))
	l.mergeAxes()
	l.Scalar = l.N == 1
	l.ByRow = len(l.Dims) > 1 && l.Dims[len(l.Dims)-1] >= minRow && !l.gathers()
	l.fuseSums()
	for i, v := range c.values {
		u := l.user(v)
		for _, x := range u.In {
			if l.inside(u, x) {
				l.last[x.Layout.Root] = i
				if v.kindIs(Reduction) {
					l.summed[x.Layout.Root] = true
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
	l.at[v] = m.Dst
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
		r := x.Layout.Root
		if o, ok := l.at[r]; ok && l.inside(v, x) && l.last[r] == i && o.Kind == InRegister && !l.summed[r] {
			l.freeReg = append(l.freeReg, o.Reg)
			delete(l.at, r)
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
