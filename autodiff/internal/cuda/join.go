// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/tensor"
)

// joined is a list of consecutive loops that go over the same rows, such as the maximum, the sum and the
// quotient of a softmax: one kernel does all of them row by row. Loops over the elements of rows alternate
// with loops over one number for each row.
type joined struct {
	p             *compiler.Program
	rows, columns int
	loops         []*compiler.Loop
	use           map[int]usage // of the arrays
}

// usage says how the loops of a list use an array.
type usage struct {
	written, read bool
	kind          usageKind
}

type usageKind uint8

const (
	elementwise usageKind = iota // each element where it stands
	rowwise                      // one number for each row, by that row
	elsewhere                    // in any other way
)

// join returns the loops from job i on that one kernel can do; nil if that is less than two.
func join(p *compiler.Program, i int) *joined {
	first := p.Jobs[i].Loop
	if first == nil || len(first.Dims) < 2 || len(first.Sums) == 0 {
		return nil
	}
	c := first.Dims[len(first.Dims)-1]
	if c < 2 || first.N == 0 {
		return nil
	}
	j := &joined{p: p, rows: first.N / c, columns: c, use: map[int]usage{}}
	if j.rows < 2 {
		return nil
	}
	for _, job := range p.Jobs[i:] {
		if job.Loop == nil || !j.add(job.Loop) {
			break
		}
	}
	if len(j.loops) < 2 {
		return nil
	}
	return j
}

// byRow reports whether strides are those of one number for each row.
func (j *joined) byRow(l *compiler.Loop, strides []int) bool {
	k := len(l.Dims) - 1
	return k > 0 && l.Dims[k] == j.columns && strides[k] == 0 && compiler.Packed(tensor.Shape(l.Dims[:k]), strides[:k])
}

// add adds a loop to the list if every row of it needs nothing of other rows that the list computes.
func (j *joined) add(l *compiler.Loop) bool {
	if l.N != j.rows && l.N != j.rows*j.columns {
		return false
	}
	for _, s := range l.Sums {
		if l.N == j.rows || s.Size != j.rows || !j.byRow(l, s.Strides) || s.Of >= compiler.RowProducts {
			return false
		}
	}
	use := map[int]usage{}
	for b, u := range j.use {
		use[b] = u
	}
	note := func(buf int, kind usageKind, written bool) {
		u, known := use[buf]
		if known && u.kind != kind {
			kind = elsewhere
		}
		use[buf] = usage{u.written || written, u.read || !written, kind}
	}
	same := elementwise
	if l.N == j.rows {
		same = rowwise
	}
	operand := func(o compiler.Operand) {
		switch {
		case o.Kind == compiler.InStep && o.Off == 0:
			note(o.Buf, same, false)
		case o.Kind == compiler.InStep, o.Kind == compiler.InNumber:
			note(o.Buf, elsewhere, false)
		case o.Kind == compiler.InRow:
			r := l.Rows[o.Row]
			j.strided(l, r.Buf, r.Off, append(slices.Clone(r.Strides), r.Step), note)
		}
	}
	for _, x := range l.Loads {
		j.strided(l, x.Buf, x.Off, x.Strides, note)
	}
	for _, f := range l.Fills {
		operand(f.From)
	}
	for _, m := range l.Ops {
		for k := range m.Op.Arity {
			operand(m.Arg[k])
		}
		if m.Dst.Kind == compiler.InStep {
			note(m.Dst.Buf, same, true)
		}
	}
	for _, s := range l.Sums {
		operand(s.A)
		if s.Of == compiler.Products {
			operand(s.B)
		}
		note(s.Out, rowwise, true)
	}
	if !j.apart(use) {
		return false
	}
	j.use, j.loops = use, append(j.loops, l)
	return true
}

func (j *joined) strided(l *compiler.Loop, buf, off int, strides []int, note func(int, usageKind, bool)) {
	kind := elsewhere
	if off == 0 && l.N != j.rows && j.byRow(l, strides) {
		kind = rowwise
	}
	note(buf, kind, false)
}

// apart reports whether what the list writes is read by the same row alone. Arrays of one kernel share no
// memory, see layout.
func (j *joined) apart(use map[int]usage) bool {
	for b, u := range use {
		if !u.written {
			continue
		}
		if u.kind == elsewhere || j.size(u.kind) != j.p.Buffers[b].Size {
			return false
		}
	}
	return true
}

func (j *joined) size(kind usageKind) int {
	if kind == rowwise {
		return j.rows
	}
	return j.rows * j.columns
}

// lastReads returns the last job that reads each array, and the number of jobs for outputs.
func lastReads(p *compiler.Program) []int {
	last := make([]int, len(p.Buffers))
	for i, j := range p.Jobs {
		for _, b := range j.Reads() {
			last[b] = i
		}
	}
	for _, b := range p.OutBufs {
		last[b] = len(p.Jobs)
	}
	return last
}

// joined makes the kernel of a list of loops, which end before job `after`; last has the last jobs that
// read arrays. Rows that are short enough stay
// in registers between the loops, so that each array is read and written once; arrays that nobody needs
// afterwards are not written at all. A softmax then moves two arrays instead of four, and its gradient three
// instead of nine, which is the least that is possible.
func (g *generator) joined(j *joined, after int, last []int) []Launch {
	for _, l := range j.loops {
		for _, m := range l.Ops {
			g.help(m.Op)
		}
	}
	c := j.columns
	var full []int // arrays that are used element by element
	for b, u := range j.use {
		if u.kind == elementwise {
			full = append(full, b)
		}
	}
	slices.Sort(full)
	team, each, kept := g.teamOf(c, len(full))
	k := Launch{Kernel: g.name("joined"), Grid: max(1, min((j.rows*team+block-1)/block, mostGrid)), Block: block}
	k.Work = g.joinedWork(j, k, team, each, kept, func(buf int) bool { return !kept || last[buf] >= after })
	g.over(k, j.rows*j.columns)
	teams := block / team
	g.printf("\tconst int lane = threadIdx.x %% %d;\n", team)
	// All threads stay until the last row, so that they can wait for each other.
	g.printf("\tfor (place_t some = blockIdx.x * (place_t)%d; some < %s; some += (place_t)gridDim.x * %d) {\n", teams, number(j.rows), teams)
	g.printf("\tplace_t row = some + threadIdx.x / %d;\n\tconst bool there = row < %s;\n\tif (!there) row = %s;\n\tconst int columns = there ? %d : 0;\n", team, number(j.rows), number(j.rows-1), c)
	state := &rowState{kept: map[int]string{}, row: map[int]string{}}
	if kept {
		for _, b := range full {
			g.printf("\tR c%d[%d];\n", b, each)
		}
		state.full = full
		state.needed = func(buf int) bool { return last[buf] >= after }
	}
	for _, l := range j.loops {
		if l.N == j.rows {
			g.rowLoop(l, state)
			continue
		}
		g.columnLoop(l, state, j, team, each)
	}
	g.text.WriteString("\t}\n}\n\n")
	return []Launch{k}
}

// teamOf returns how many threads share a row of c elements, the elements of each, and whether registers keep them, of so many arrays: as few threads as
// can keep them, since what threads tell each other takes longer than what each does.
func (g *generator) teamOf(c, arrays int) (team, each int, kept bool) {
	fits := func() bool { return (c+team-1)/team*arrays*g.precision/8 <= g.choice("kept") }
	for team = 1; team < c && team < warp || c > warp && !fits() && team < block; team *= 2 {
	}
	if kept = fits(); !kept && c <= 8*warp {
		team = warp
	}
	return team, (c + team - 1) / team, kept
}

// rowState says what a thread of a kernel of joined loops has in variables.
type rowState struct {
	full   []int              // arrays whose elements are kept
	kept   map[int]string     // elements of arrays that were read or computed
	row    map[int]string     // numbers of the row that were computed
	needed func(buf int) bool // whether an array must be written; nil if all must
}

// rowLoop writes a loop over one number for each row, which all threads of the row compute.
func (g *generator) rowLoop(l *compiler.Loop, state *rowState) {
	b := &body{g: g, l: l, local: map[int]string{}, regs: make([]bool, l.Regs), rows: state, ofRow: true}
	b.write(needs(l, nil), true)
	g.text.WriteString(b.declared.String() + "\t{ place_t i = row;\n" + b.flat("i") + b.lines.String() + "\t}\n")
}

// columnLoop writes a loop over the elements of a row, and what its sums make of them.
func (g *generator) columnLoop(l *compiler.Loop, state *rowState, j *joined, team, each int) {
	b := &body{g: g, l: l, local: map[int]string{}, regs: make([]bool, l.Regs), rows: state}
	b.write(needs(l, nil), true)
	for i := range l.Sums {
		b.summands = append(b.summands, b.summand(&l.Sums[i]))
		g.printf("\tdouble acc%d_%d = %s;\n", l.Sums[i].Out, i, identity(&l.Sums[i]))
	}
	if state.full != nil {
		g.printf("#pragma unroll\n\tfor (int q = 0; q < %d; q++) {\n\t\tint col = lane + q * %d;\n\t\tif (col >= columns) break;\n", each, team)
	} else {
		g.printf("\tfor (int col = lane; col < columns; col += %d) {\n", team)
	}
	g.printf("\t\tplace_t i = row * %s + col;\n%s%s", number(j.columns), b.flat("i"), b.lines.String())
	for i := range l.Sums {
		g.printf("\t\tacc%[1]d_%[2]d = %[3]s(acc%[1]d_%[2]d, %[4]s);\n", l.Sums[i].Out, i, combine(&l.Sums[i]), b.summands[i])
	}
	g.text.WriteString("\t}\n")
	for i := range l.Sums {
		s := &l.Sums[i]
		acc := fmt.Sprintf("acc%d_%d", s.Out, i)
		g.printf("\tfor (int half = %d; half > 0; half /= 2) %s = %s(%s, __shfl_xor_sync(0xffffffffu, %s, half));\n", min(team, warp)/2, acc, combine(s), acc, acc)
		if team > warp {
			g.printf("\tif (lane %% 32 == 0) room[threadIdx.x / 32] = %[1]s;\n\t__syncthreads();\n\t%[1]s = room[threadIdx.x / %[2]d * %[3]d];\n\tfor (int w = 1; w < %[3]d; w++) %[1]s = %[4]s(%[1]s, room[threadIdx.x / %[2]d * %[3]d + w]);\n\t__syncthreads();\n",
				acc, team, team/warp, combine(s))
		}
		g.printf("\tconst R s%d = %s;\n\tif (there && lane == 0) buf[%d][row] = s%d;\n", s.Out, g.stored(s.Out, "(R)"+acc), s.Out, s.Out)
		state.row[s.Out] = fmt.Sprintf("s%d", s.Out)
	}
}
