// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

// gathered returns the list with calls of Go side by side, so that there are few pieces of machine code between them: first all that needs
// no call, then the calls of that, then all that needs only these, and so on. Lists that read or write a place that they also write stay.
func (l *List) gathered() *List {
	depth, deepest := make([]int, len(l.ops)), 0
	if l.rewrites() {
		return l
	}
	for i := range l.ops {
		o := &l.ops[i]
		for _, v := range o.in[:o.operands] {
			d := depth[v]
			if l.ops[v].do == call {
				d++
			}
			depth[i] = max(depth[i], d)
		}
		deepest = max(deepest, depth[i])
	}
	out, moved := &List{arrays: l.arrays}, make([]Value, len(l.ops))
	for d := range deepest + 1 {
		for _, calls := range []bool{false, true} {
			for i := range l.ops {
				if o := l.ops[i]; depth[i] == d && (o.do == call) == calls {
					for k, v := range o.in[:o.operands] {
						o.in[k] = moved[v]
					}
					moved[i] = out.add(o)
				}
			}
		}
	}
	return out
}

// rewrites says whether the list reads or writes a place that it also writes.
func (l *List) rewrites() bool {
	written := map[home]bool{}
	for _, reads := range []bool{false, true} {
		for i := range l.ops {
			o := &l.ops[i]
			if isLoad := o.do == load || o.do == loadLanes; isLoad != reads || !isLoad && o.do != store && o.do != storeLanes {
				continue
			}
			for k := range max(1, int32(o.n)) {
				h := home{inFirst + base(o.mem), o.at + k}
				if written[h] {
					return true
				}
				written[h] = !reads
			}
		}
	}
	return false
}
