// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

// gathered returns the list with calls of Go side by side, so that there are few pieces of machine code between them: first all that needs
// no call, then the calls of that, then all that needs only these, and so on. Lists that read or write a place that they also write stay.
func (l *List) gathered() *List {
	written, depth, deepest := map[home]bool{}, make([]int, len(l.ops)), 0
	for i := range l.ops {
		o := &l.ops[i]
		h := home{inFirst + base(o.mem), o.at}
		switch {
		case o.do == store && written[h] || o.do == load && l.storesTo(h):
			return l
		case o.do == store:
			written[h] = true
		}
		for _, v := range o.in[:o.operands] {
			d := depth[v]
			if l.ops[v].do == call {
				d++
			}
			depth[i] = max(depth[i], d)
		}
		deepest = max(deepest, depth[i])
	}
	out, moved := &List{}, make([]Value, len(l.ops))
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

func (l *List) storesTo(h home) bool {
	if l.stores == nil {
		l.stores = map[home]bool{}
		for i := range l.ops {
			if o := &l.ops[i]; o.do == store {
				l.stores[home{inFirst + base(o.mem), o.at}] = true
			}
		}
	}
	return l.stores[h]
}
