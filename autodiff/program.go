package autodiff

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/kernels"
)

// Settings say how Compile makes a Program. The zero value is the default.
type Settings struct {
	// Inputs is the order of State.Input. Default: order of creation.
	Inputs []*Node
	// Precision of reals in bits, 64 or 32. Default 64: inference needs it.
	Precision int
	// Threads is the most goroutines that work on one large array. Results are
	// the same for any number. Default: GOMAXPROCS; small programs use one.
	Threads int
	// Batch adds a last axis of this length to the Batched inputs and to every
	// output, and computes all of its elements in one run. Default 0: none.
	Batch   int
	Batched []*Node
	// Isolate lets the lanes of a batch fail alone: where the numbers of one leave
	// an operation without a result, such as Cholesky, that is NaN and Run goes on.
	// Default: Run returns the error.
	Isolate bool
	// MaxMemory is how many bytes a State may take: Compile returns a *MemoryError for
	// a larger program. Default: the memory of the machine, of its container or of
	// GOMEMLIMIT, whichever is least.
	MaxMemory int64
	// SIMD is the instruction set: "avx512", "avx2" or "go". Default: the best
	// of this processor.
	SIMD string
}

// Program is a compiled graph. It is immutable and safe for concurrent use; each
// goroutine runs it with a State of its own.
type Program struct {
	settings Settings
	level    kernels.Level
	inputs   []*Node
	outputs  []*value
	jobs     []*programJob
	planner
	inBufs, outBufs []int
	parallel        bool // some loop or product is large enough to share
}

type programJob struct {
	loop *loop
	step *value
}

// Compile makes a Program that computes outputs.
func Compile(outputs []*Node, s Settings) (*Program, error) {
	if bad := firstErr(outputs...); bad != nil {
		return nil, bad.err
	}
	p := &Program{settings: s}
	if err := p.check(); err != nil {
		return nil, err
	}
	if s.Batch > 0 {
		var bad *Node
		if outputs, p.settings.Inputs, bad = batch(outputs, p.settings); bad != nil {
			return nil, bad.err
		}
	}
	nodes := upstream(outputs...)
	if err := p.findInputs(nodes); err != nil {
		return nil, err
	}
	r := newRewriter()
	for _, n := range p.inputs {
		r.lower(n)
	}
	for _, n := range nodes {
		r.lower(n)
	}
	roots := make([]*value, len(outputs))
	for i, n := range outputs {
		roots[i] = r.of[n]
	}
	if err := p.build(r, roots); err != nil {
		return nil, err
	}
	return p, p.fits()
}

func (p *Program) check() error {
	s := &p.settings
	if s.Precision == 0 {
		s.Precision = 64
	}
	if s.Precision != 64 && s.Precision != 32 {
		return fmt.Errorf("autodiff: precision %d: want 64 or 32", s.Precision)
	}
	if s.Batch < 0 {
		return fmt.Errorf("autodiff: batch of %d: want at least 1, or 0 for none", s.Batch)
	}
	if s.Threads <= 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	p.level = kernels.Best()
	if s.SIMD != "" {
		for _, l := range kernels.Levels() {
			if l.String() == s.SIMD {
				p.level = l
				return nil
			}
		}
		return fmt.Errorf("autodiff: instruction set %q: want one of %v, which this processor has", s.SIMD, kernels.Levels())
	}
	return nil
}

// findInputs lists the inputs in the order of Settings.Inputs, then of creation.
func (p *Program) findInputs(nodes []*Node) error {
	known := map[*Node]bool{}
	for i, n := range p.settings.Inputs {
		if n == nil || !n.isInput() || n.err != nil {
			return fmt.Errorf("autodiff: Settings.Inputs[%d] is %v: want a Node made by Input", i, n)
		}
		if known[n] {
			return fmt.Errorf("autodiff: Settings.Inputs[%d] is %v again: want each once", i, n)
		}
		known[n] = true
		p.inputs = append(p.inputs, n)
	}
	for _, n := range nodes {
		if n.isInput() && !known[n] {
			p.inputs = append(p.inputs, n)
		}
	}
	return nil
}

// build lays out, groups, plans and lowers the values that roots need.
func (p *Program) build(r *rewriter, roots []*value) error {
	l := &layouts{nextID: len(r.values)}
	for _, v := range needed(r.values, roots) {
		if v.kindIs(view) && v.isInt && v.op.Code != codeReshape {
			return fmt.Errorf("autodiff: %s of indices: reorder them before they become a Node", v.op.Name)
		}
		l.add(v)
	}
	claimed := map[*value]bool{}
	keep := map[*value]bool{}
	for i, v := range roots {
		root := v.layout.root
		if root.op == nil || claimed[root] || !v.whole() {
			root = l.copied(v)
			roots[i] = root
		}
		if root.isInt && root.op.Code == codeCopy {
			return fmt.Errorf("autodiff: output %d is a leaf of indices: read it where it was made", i)
		}
		claimed[root], keep[root] = true, true
		root.place.escapes = true
	}
	p.outputs = roots
	jobs := group(l.order)
	p.plan(r, l, roots, jobs, keep)
	for _, j := range jobs {
		pj := &programJob{step: j.step}
		if j.cluster != nil {
			pj.loop = lowerCluster(j.cluster)
			p.parallel = p.parallel || pj.loop.blocks > 1
		}
		p.jobs = append(p.jobs, pj)
	}
	return nil
}

// plan gives arrays to inputs, outputs, constants and temporaries, in this order.
func (p *Program) plan(r *rewriter, l *layouts, roots []*value, jobs []*job, keep map[*value]bool) {
	p.buffers = []buffer{{}}
	for _, n := range p.inputs {
		v := r.of[n]
		p.add(v, inputBuf)
		p.inBufs = append(p.inBufs, v.place.buf)
	}
	for _, v := range roots {
		p.add(v.layout.root, outputBuf)
		p.outBufs = append(p.outBufs, v.layout.root.place.buf)
	}
	for _, v := range l.order {
		if v.op == nil && v.place.buf == 0 && (v.data != nil || v.ints != nil) {
			p.add(v, constBuf)
		}
	}
	p.temporaries(jobs, keep)
}

// needed returns the values that roots are made from, inputs before outputs.
func needed(values, roots []*value) []*value {
	mark := make([]bool, len(values))
	stack := slices.Clone(roots)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !mark[v.id] {
			mark[v.id] = true
			stack = append(stack, v.in...)
		}
	}
	out := make([]*value, 0, len(values))
	for _, v := range values {
		if mark[v.id] {
			out = append(out, v)
		}
	}
	return out
}

// Inputs returns the inputs in the order of State.Input.
func (p *Program) Inputs() []*Node { return slices.Clone(p.inputs) }

// hasInput is an error if there is no input of the number.
func (p *Program) hasInput(i int) error {
	if i < 0 || i >= len(p.inputs) {
		return fmt.Errorf("autodiff: input %d of a program of %d inputs", i, len(p.inputs))
	}
	return nil
}

// Outputs returns the number of outputs.
func (p *Program) Outputs() int { return len(p.outputs) }

// OutputShape returns the shape of output i.
func (p *Program) OutputShape(i int) []int { return slices.Clone(p.outputs[i].shape) }

// Precision returns the width of reals in bits, 64 or 32.
func (p *Program) Precision() int { return p.settings.Precision }

// Bytes returns the memory that each State holds for arrays.
func (p *Program) Bytes() int {
	reals := p.arena + p.consts
	for _, j := range p.jobs {
		if j.loop != nil {
			reals += j.loop.room()
		}
	}
	return reals*(p.settings.Precision/8) + p.ints*8
}

// String lists the program, one line per pass over memory.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program float%d %v: %d inputs, %d outputs, %d jobs, %d bytes\n", p.settings.Precision, p.level, len(p.inputs), len(p.outputs), len(p.jobs), p.Bytes())
	for _, j := range p.jobs {
		if j.step != nil {
			fmt.Fprintf(&b, "  %s %v\n", j.step.op.Name, []int(j.step.shape))
			continue
		}
		fmt.Fprintf(&b, "  loop %v regs=%d loads=%d fills=%d blocks=%d:", j.loop.dims, j.loop.regs, len(j.loop.loads), len(j.loop.fills), j.loop.blocks)
		for _, m := range j.loop.ops {
			b.WriteString(" " + m.op.Name + [...]string{arrays: "", byNumber: "_s", numberBy: "_s"}[m.form])
		}
		for _, s := range j.loop.sums {
			fmt.Fprintf(&b, " %s->%d", s.name(), s.size)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
