// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// body is the operations of a loop on one element, as lines of C.
type body struct {
	g     *generator
	l     *compiler.Loop
	lines strings.Builder
	// summands are what the sums add of the element.
	summands []string
	indexed  bool           // whether an operand needs the indices x0, x1, ... of the element
	local    map[int]string // variables that hold what was written to arrays
	regs     []bool         // registers that are declared
	// Of a loop that is joined with others: what is in variables already, whether it has one number for each
	// row, and declarations of such numbers for the loops after it.
	rows     *rowState
	ofRow    bool
	declared strings.Builder
	packed   *packed // of a loop in packs: the arrays whose elements are parameters
	tiles    *tiled  // of a loop in tiles: the arrays whose elements are in shared memory
}

// body writes the operations; those alone that a sum needs, and without writing to arrays, unless
// the sum is nil.
func (g *generator) body(l *compiler.Loop, only *compiler.Reduce) *body {
	b := &body{g: g, l: l, local: map[int]string{}, regs: make([]bool, l.Regs)}
	b.write(needs(l, only), only == nil)
	for i := range l.Sums {
		if s := &l.Sums[i]; only == nil || only == s {
			b.summands = append(b.summands, b.summand(s))
		}
	}
	return b
}

// write writes the operations that are needed, with writing to arrays or without.
func (b *body) write(needed need, write bool) {
	l := b.l
	for _, x := range l.Loads {
		if needed.reg[x.Reg] {
			b.set(x.Reg, b.strided(x.Buf, x.Off, x.Strides))
		}
	}
	for _, f := range l.Fills {
		if needed.reg[f.Reg] {
			b.set(f.Reg, b.operand(f.From))
		}
	}
	for i, m := range l.Ops {
		if !needed.op[i] {
			continue
		}
		b.instruction(m, write)
	}
}

// set gives a register a value; its variable is declared at the first.
func (b *body) set(reg int, value string) {
	kind := ""
	if !b.regs[reg] {
		kind, b.regs[reg] = "R ", true
	}
	fmt.Fprintf(&b.lines, "\t\t%sr%d = %s;\n", kind, reg, value)
}

func (b *body) instruction(m compiler.Instruction, write bool) {
	arg := m.Arg
	if m.Form == compiler.NumberBy {
		arg[0], arg[1] = arg[1], arg[0]
	}
	names := [3]string{"x", "y", "z"}
	var given []string
	for k := range m.Op.Arity {
		given = append(given, fmt.Sprintf("%s = %s", names[k], b.operand(arg[k])))
	}
	target := ""
	switch m.Dst.Kind {
	case compiler.InRegister:
		target = fmt.Sprintf("r%d", m.Dst.Reg)
		if !b.regs[m.Dst.Reg] {
			b.regs[m.Dst.Reg] = true
			fmt.Fprintf(&b.lines, "\t\tR %s;\n", target)
		}
	default:
		target = fmt.Sprintf("w%d", m.Dst.Buf)
		fmt.Fprintf(&b.lines, "\t\tR %s;\n", target)
	}
	if m.Op.C == "" && b.g.err == nil {
		b.g.err = fmt.Errorf("autodiff: operation %q has no CUDA text, so that no GPU can compute it: add the text to its definition, or compile for the processor", m.Op.Name)
	}
	value := fmt.Sprintf("(R)(%s)", b.g.inReals(m.Op, m.Op.C))
	if m.Dst.Kind == compiler.InStep {
		value = b.g.stored(m.Dst.Buf, value)
	}
	fmt.Fprintf(&b.lines, "\t\t{ %s %s; %s = %s; }\n", b.g.real(m.Op), strings.Join(given, ", "), target, value)
	if m.Dst.Kind == compiler.InStep {
		b.local[m.Dst.Buf] = target
		if write {
			b.store(m.Dst.Buf, target)
		}
	}
}

// store writes element i of an array, and keeps it for joined loops.
func (b *body) store(buf int, value string) {
	switch {
	case b.packed != nil:
		fmt.Fprintf(&b.lines, "\t\t%s = %s;\n", b.packed.stored(buf), value)
	case b.rows == nil:
		fmt.Fprintf(&b.lines, "\t\tbuf[%d][i] = %s;\n", buf, value)
	case b.ofRow:
		fmt.Fprintf(&b.declared, "\tR s%d;\n", buf)
		fmt.Fprintf(&b.lines, "\t\ts%[1]d = %[2]s;\n\t\tif (there && lane == 0) buf[%[1]d][i] = %[2]s;\n", buf, value)
		b.rows.row[buf] = fmt.Sprintf("s%d", buf)
	default:
		if b.rows.needed == nil || b.rows.needed(buf) {
			fmt.Fprintf(&b.lines, "\t\tbuf[%d][i] = %s;\n", buf, value)
		}
		if slices.Contains(b.rows.full, buf) {
			b.rows.kept[buf] = fmt.Sprintf("c%d[q]", buf)
			fmt.Fprintf(&b.lines, "\t\tc%d[q] = %s;\n", buf, value)
		}
	}
}

// variable returns the variable that holds an element of an array in joined loops, or "". An array that is to
// be kept is read at its first use.
func (b *body) variable(o compiler.Operand) string {
	switch {
	case b.rows == nil || o.Off != 0:
	case b.rows.row[o.Buf] != "":
		return b.rows.row[o.Buf]
	case b.rows.kept[o.Buf] != "":
		return b.rows.kept[o.Buf]
	case o.Kind == compiler.InStep && !b.ofRow && slices.Contains(b.rows.full, o.Buf):
		b.rows.kept[o.Buf] = fmt.Sprintf("c%d[q]", o.Buf)
		fmt.Fprintf(&b.lines, "\t\tc%[1]d[q] = buf[%[1]d][i];\n", o.Buf)
		return b.rows.kept[o.Buf]
	}
	return ""
}

// operand returns the C expression of an operand of element i.
func (b *body) operand(o compiler.Operand) string {
	switch o.Kind {
	case compiler.InRegister:
		return fmt.Sprintf("r%d", o.Reg)
	case compiler.InNumber:
		return fmt.Sprintf("buf[%d][%s]", o.Buf, number(o.Off))
	case compiler.InRow:
		r := b.l.Rows[o.Row]
		return b.strided(r.Buf, r.Off, whole(r))
	}
	if w, ok := b.local[o.Buf]; ok {
		return w
	}
	if w := b.variable(o); w != "" {
		return w
	}
	if b.packed != nil {
		return b.packed.element(o.Buf, o.Off)
	}
	if o.Off != 0 {
		return fmt.Sprintf("buf[%d][%s + i]", o.Buf, number(o.Off))
	}
	return fmt.Sprintf("buf[%d][i]", o.Buf)
}

// strided returns an element of an array seen along strides.
func (b *body) strided(buf, off int, strides []int) string {
	if w := b.variable(compiler.Operand{Kind: compiler.InRow, Buf: buf, Off: off}); w != "" {
		return w
	}
	if k := b.tiles.array(buf, off, strides); k >= 0 {
		return fmt.Sprintf("eu_tile%d[x][y]", k)
	}
	at := placeAt(b.l, off, strides)
	b.indexed = b.indexed || strings.Contains(at, "x")
	return fmt.Sprintf("buf[%d][%s]", buf, at)
}

// flat declares the indices of an element from its flat index, if they are needed.
func (b *body) flat(i string) string {
	if !b.indexed {
		return ""
	}
	var a axes
	for d, n := range b.l.Dims {
		a = append(a, axis{d, n})
	}
	return a.split(i)
}

// position returns the flat index of an element from its indices.
func (b *body) position() string {
	var terms []string
	step := 1
	for d := len(b.l.Dims) - 1; d >= 0; d-- {
		terms = append(terms, fmt.Sprintf("x%d * %s", d, number(step)))
		step *= b.l.Dims[d]
	}
	return strings.Join(terms, " + ")
}

// summand returns what a sum adds of an element.
func (b *body) summand(s *compiler.Reduce) string {
	x := "(double)" + b.operand(s.A)
	switch s.Of {
	case compiler.Numbers:
		return x
	case compiler.Squares:
		return x + " * " + x
	}
	return x + " * (double)" + b.operand(s.B)
}

// need says which operations and registers of a loop are needed.
type need struct {
	op  []bool
	reg []bool
}

// needs returns what a sum needs, or all of the loop for nil.
func needs(l *compiler.Loop, s *compiler.Reduce) need {
	n := need{make([]bool, len(l.Ops)), make([]bool, l.Regs)}
	if s == nil {
		for i := range n.op {
			n.op[i] = true
		}
		for i := range n.reg {
			n.reg[i] = true
		}
		return n
	}
	// Backwards over the operations: reg and array say what those after need as it stands here.
	reg, array := make([]bool, l.Regs), map[int]bool{}
	want := func(o compiler.Operand) {
		switch o.Kind {
		case compiler.InRegister:
			reg[o.Reg] = true
		case compiler.InStep:
			array[o.Buf] = true
		}
	}
	want(s.A)
	if s.Of >= compiler.Products {
		want(s.B)
	}
	for i := len(l.Ops) - 1; i >= 0; i-- {
		m := l.Ops[i]
		switch {
		case m.Dst.Kind == compiler.InRegister && reg[m.Dst.Reg]:
			reg[m.Dst.Reg] = false
		case m.Dst.Kind == compiler.InStep && array[m.Dst.Buf]:
			array[m.Dst.Buf] = false
		default:
			continue
		}
		n.op[i] = true
		for k := range m.Op.Arity {
			want(m.Arg[k])
		}
	}
	n.reg = reg
	return n
}
