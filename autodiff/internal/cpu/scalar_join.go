// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

// farthest is how many operations may lie between two that become one.
const farthest = 16

// joined makes one operation of two where a product or a sum is only an operand of a later product, sum or difference. The result has the
// same bits: a product is rounded before it is added. inside says which numbers nothing else reads.
func joined[T Real](ops []scalarOp[T], inside map[*T]bool) []scalarOp[T] {
	reads, reader := countReads(ops)
	gone := make([]bool, len(ops))
	for i := range ops {
		j := reader[i]
		if reads[i] != 1 || !inside[ops[i].dst] || j-i > farthest || ops[j].code >= sMulAdd || !ops[i].unchanged(ops[i+1:j]) {
			continue
		}
		if m, ok := ops[i].before(&ops[j]); ok {
			ops[j], gone[i] = m, true
		}
	}
	out := ops[:0]
	for i, o := range ops {
		if !gone[i] {
			out = append(out, o)
		}
	}
	return out
}

// countReads returns how often the result of each operation is read, and where last.
func countReads[T Real](ops []scalarOp[T]) (reads, reader []int) {
	reads, reader = make([]int, len(ops)), make([]int, len(ops))
	writer := map[*T]int{}
	for j := range ops {
		o := &ops[j]
		for _, p := range []*T{o.a, o.b, o.c} {
			if i, ok := writer[p]; ok && p != nil {
				reads[i]++
				reader[i] = j
			}
		}
		writer[o.dst] = j
	}
	return reads, reader
}

// unchanged says whether operations leave the operands of o as they are.
func (o *scalarOp[T]) unchanged(between []scalarOp[T]) bool {
	for k := range between {
		if d := between[k].dst; d == o.a || d == o.b || d == o.dst {
			return false
		}
	}
	return true
}

// before returns o and the operation that reads its result as one; ok is false if there is none for them.
func (o *scalarOp[T]) before(next *scalarOp[T]) (m scalarOp[T], ok bool) {
	first := next.a == o.dst
	other := next.a
	if first {
		other = next.b
	}
	m = scalarOp[T]{op: next.op, dst: next.dst, a: o.a, b: o.b, c: other}
	switch {
	case o.code == sMul && next.code == sAdd:
		m.code = sMulAdd
	case o.code == sMul && next.code == sSub && first:
		m.code = sMulSub
	case o.code == sMul && next.code == sSub:
		m.code = sSubMul
	case o.code == sMul && next.code == sMul:
		m.code = sMulMul
	case o.code == sAdd && next.code == sAdd:
		m.code = sAddAdd
	case o.code == sAdd && next.code == sMul:
		m.code = sAddMul
	case o.code == sSub && next.code == sMul:
		m.code = sSubThenMul
	default:
		return m, false
	}
	return m, true
}
