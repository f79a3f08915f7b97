// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Steps holds, for operations that run alone, what makes their kernels; an operation without an
// entry, and a step for which the function returns false, runs on the processor.
var Steps = map[*compiler.Op]func(s *Step) bool{}

// Step is one operation that runs alone, whose kernels are being made.
type Step struct {
	*compiler.Value
	g    *generator
	list []Launch
	job  int

	converts bool
}

// step makes the kernels of a step; nil if it runs on the processor.
func (g *generator) step(job int, v *compiler.Value) []Launch {
	make := Steps[v.Op]
	if make == nil || v.Size() == 0 {
		return nil
	}
	s := &Step{Value: v, g: g, job: job}
	if !make(s) {
		return nil
	}
	return s.list
}

// In returns the C expression of input k, a pointer to its elements.
func (s *Step) In(k int) string {
	x := s.Value.In[k]
	root := x.Layout.Root
	at := ""
	if x.Layout.Offset != 0 {
		at = " + " + number(x.Layout.Offset)
	}
	return fmt.Sprintf("((const %s *)buf[%d]%s)", s.element(x), root.Place.Buf, at)
}

// Out returns the C expression of the result, a pointer to its elements.
func (s *Step) Out() string {
	return fmt.Sprintf("((%s *)buf[%d])", s.element(s.Value), s.Place.Buf)
}

// Shape returns the shape of input k.
func (s *Step) InShape(k int) []int { return s.Value.In[k].Shape }

// Elements makes a kernel that runs a text for i = 0 ... n-1, each in a thread. The text may use in0,
// in1, ... and out, and fail(code) to report that the step cannot be done.
func (s *Step) Elements(n int, text string) {
	s.elements("step", n, s.g.choice("elements"), block, text)
}

// Lines makes a kernel that runs a text for i = 0 ... n-1, each in a thread that has much to do.
func (s *Step) Lines(n int, text string) { s.elements("step", n, 1, 64, text) }

// elements makes the kernel of Elements and of Lines.
func (s *Step) elements(name string, n, each, threads int, text string) {
	k := Launch{Kernel: s.g.name(name), Grid: max(1, min((n+threads*each-1)/(threads*each), mostGrid)), Block: threads}
	k.Work = s.textWork(n, text, k)
	s.Begin(k)
	kind := pick(s.g.short(n), "int", "index_t")
	s.g.fails = s.g.fails || strings.Contains(text, "fail(")
	s.Printf("\tfor (%[1]s i = blockIdx.x * (%[1]s)%[2]d + threadIdx.x; i < %[3]s; i += (%[1]s)gridDim.x * %[2]d) {\n%[4]s\n\t}\n}\n\n", kind, threads, number(n), text)
}

// Begin opens a kernel, and declares in0, in1, ..., out and fail. Of the jobs that fail the first is kept, as those
// after it compute with what it left.
func (s *Step) Begin(k Launch) {
	if s.g.options.Count && len(k.Work.Arrays) == 0 {
		k.Work = s.arrays()
		k.Work.Unknown = "instructions of blocks"
	}
	s.list = append(s.list, k)
	s.g.begin(k)
	for i := range s.Value.In {
		s.Printf("\tconst %s *in%d = %s;\n", s.element(s.Value.In[i]), i, s.In(i))
	}
	s.Printf("\t%s *out = %s;\n", s.element(s.Value), s.Out())
	s.Printf("#undef fail\n#define fail(code) (fault[0] == 0 ? (fault[0] = eu_job, fault[1] = (code)) : 0)\n")
}

// Printf adds text to the program.
func (s *Step) Printf(format string, v ...any) { s.g.printf(format, v...) }

// Shared adds a declaration of shared memory that all kernels of an operation use.
func (s *Step) Shared(name, text string) { s.g.shared(name, text) }

// shared adds a declaration that several kernels use, once.
func (g *generator) shared(name, text string) {
	if !g.known[name] {
		g.known[name] = true
		g.helpers.WriteString(text)
	}
}

// Table adds an array of constant indices and returns the C expression of it. It begins at a multiple of 16 bytes.
func (s *Step) Table(v []int64) string {
	if len(v)%2 == 1 {
		v = append(slices.Clip(v), 0)
	}
	s.g.tables = append(s.g.tables, v)
	return fmt.Sprintf("((const index_t *)buf[%d])", s.g.buffers+len(s.g.tables)-1)
}

// Around splits a shape at an axis into the sizes before and after it and its length.
func Around(shape []int, axis int) (outer, inner, n int) {
	outer, inner = 1, 1
	for i, d := range shape {
		switch {
		case i < axis:
			outer *= d
		case i > axis:
			inner *= d
		}
	}
	return outer, inner, shape[axis]
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
