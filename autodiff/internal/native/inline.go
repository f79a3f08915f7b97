// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import "github.com/euryale-dev/euryale/autodiff/internal/compiler"

// Numbers are the values of places in the arena of a program. Read returns the value of a place that none of the loops has written, and
// Write is told what they write.
type Numbers struct {
	at    map[int]Value
	Read  func(at int) (v Value, ok bool)
	Write func(at int, v Value)
}

// Inline appends loops of single numbers to the list. ok is false, and the list of no use, if they read what is no real number in the arena.
func (l *List) Inline(p *compiler.Program, loops []*compiler.Loop, n Numbers) (ok bool) {
	n.at = map[int]Value{}
	for _, loop := range loops {
		registers := map[int]Value{}
		for i := range loop.Ops {
			o := &loop.Ops[i]
			var in [3]Value
			for k := range o.Op.Arity {
				if in[k], ok = l.operand(p, &o.Arg[k], registers, &n); !ok {
					return false
				}
			}
			v := l.Apply(o.Op, in[:o.Op.Arity]...)
			if o.Dst.Kind == compiler.InRegister {
				registers[o.Dst.Reg] = v
				continue
			}
			at := p.Buffers[o.Dst.Buf].Offset + o.Dst.Off
			n.at[at] = v
			n.Write(at, v)
		}
	}
	return true
}

// operand returns the value of an operand of a loop.
func (l *List) operand(p *compiler.Program, o *compiler.Operand, registers map[int]Value, n *Numbers) (v Value, ok bool) {
	if o.Kind == compiler.InRegister {
		v, ok = registers[o.Reg]
		return v, ok
	}
	switch b := &p.Buffers[o.Buf]; {
	case b.Kind == compiler.IntBuf || b.Kind == compiler.ConstBuf && (b.Value == nil || b.Value.Op != nil):
		return 0, false
	case b.Kind == compiler.ConstBuf:
		return l.Constant(b.Value.Data[o.Off]), true
	default:
		at := b.Offset + o.Off
		if v, ok = n.at[at]; !ok {
			if v, ok = n.Read(at); ok {
				n.at[at] = v
			}
		}
		return v, ok
	}
}

// Function appends a program that consists of loops of single numbers: in are the values of its inputs. ok is false if it is none.
func (l *List) Function(p *compiler.Program, in []Value) (out []Value, ok bool) {
	loops, ok := Loops(p)
	if !ok || len(in) != len(p.InBufs) {
		return nil, false
	}
	at := map[int]Value{}
	for i, buf := range p.InBufs {
		at[p.Buffers[buf].Offset] = in[i]
	}
	ok = l.Inline(p, loops, Numbers{Read: func(i int) (Value, bool) { v, ok := at[i]; return v, ok }, Write: func(i int, v Value) { at[i] = v }})
	for _, buf := range p.OutBufs {
		v, made := at[p.Buffers[buf].Offset]
		out, ok = append(out, v), ok && made && p.Buffers[buf].Kind != compiler.IntBuf
	}
	return out, ok
}

// Loops returns the loops of a program all of whose inputs, outputs and jobs are single numbers.
func Loops(p *compiler.Program) (loops []*compiler.Loop, ok bool) {
	for _, buf := range append(append([]int{}, p.InBufs...), p.OutBufs...) {
		if p.Buffers[buf].Size != 1 || p.IsInts(buf) {
			return nil, false
		}
	}
	for _, j := range p.Jobs {
		if j.Loop == nil || !j.Loop.Scalar {
			return nil, false
		}
		loops = append(loops, j.Loop)
	}
	return loops, true
}
