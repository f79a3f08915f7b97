package autodiff

import (
	"fmt"
	"slices"
	"strings"
)

// code is a graph made ready to run: arrays, and the jobs on them in order.
type code struct {
	outputs []*value
	jobs    []*job
	planner
	inBufs, outBufs []int
}

// build lays out, groups, plans and lowers the values that roots need.
func build(r *rewriter, inputs, roots []*value) (*code, error) {
	p := &code{}
	l := &layouts{nextID: len(r.values)}
	for _, v := range needed(r.values, roots) {
		if v.kindIs(view) && v.isInt && v.op.Code != codeReshape {
			return nil, fmt.Errorf("autodiff: %s of indices: reorder them before they become a Node", v.op.Name)
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
			return nil, fmt.Errorf("autodiff: output %d is a leaf of indices: read it where it was made", i)
		}
		claimed[root], keep[root] = true, true
		root.place.escapes = true
	}
	p.outputs = roots
	jobs := group(l.order)
	p.plan(l, inputs, roots, jobs, keep)
	for _, j := range jobs {
		if j.cluster != nil {
			j.loop = lowerCluster(j.cluster)
		}
	}
	p.jobs = jobs
	return p, nil
}

// plan gives arrays to inputs, outputs, constants and temporaries, in this order.
func (p *code) plan(l *layouts, inputs, roots []*value, jobs []*job, keep map[*value]bool) {
	p.buffers = []buffer{{}}
	for _, v := range inputs {
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

// sizes returns how many reals and indices a run holds in arrays.
func (p *code) sizes() (reals, ints int) {
	reals = p.arena + p.consts
	for _, j := range p.jobs {
		if j.loop != nil {
			reals += j.loop.room()
		}
	}
	return reals, p.ints
}

// String lists the jobs, one line per pass over memory.
func (p *code) String() string {
	var b strings.Builder
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
