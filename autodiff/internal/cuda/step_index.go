// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
)

// Faults that kernels report.
const (
	FaultIndex         = 1
	FaultNotPositive   = 2
	FaultSingular      = 3
	FaultNoConvergence = 4
)

// faults say what kernels report.
var faults = [...]string{FaultIndex: "an index is out of range", FaultNotPositive: "a matrix is not positive definite",
	FaultSingular: "a matrix is singular", FaultNoConvergence: "eigenvalues or singular values were not found"}

// mostScatter is the largest number of comparisons for each line of a scatter whose indices are not
// known beforehand.
const mostScatter = 1 << 24

// Gather picks slices along an axis.
func Gather(s *Step) bool {
	s.Converts()
	_, inner, n := Around(s.InShape(0), s.Attr[0])
	k := s.Value.In[1].Size()
	s.Elements(s.Size(), fmt.Sprintf(`		index_t at = in1[i / %[1]s %% %[2]s];
		if (at < 0 || at >= %[3]s) { fail(%[4]d); continue; }
		out[i] = in0[(i / %[5]s * %[3]s + at) * %[1]s + i %% %[1]s];`, number(inner), number(k), number(n), FaultIndex, number(inner*k)))
	s.picked(inner)
	return true
}

// ScatterAdd is the transpose of Gather. Each element of the result adds what belongs to it in the
// order of the indices; those that are known beforehand are sorted for it.
func ScatterAdd(s *Step) bool {
	_, inner, n := Around(s.Value.Shape, s.Attr[0])
	k := s.Value.In[1].Size()
	if idx := s.Value.In[1]; idx.Op == nil && idx.Ints != nil {
		order, from, ok := inverted(idx.Ints, n)
		if !ok {
			return false // the processor says which index it is
		}
		s.Elements(s.Size(), fmt.Sprintf(`		index_t at = i / %[1]s %% %[2]s, o = i / %[6]s, j = i %% %[1]s;
		const index_t *order = %[3]s, *from = %[4]s;
		double sum = 0.0;
		for (index_t p = from[at]; p < from[at + 1]; p++) sum += in0[(o * %[5]s + order[p]) * %[1]s + j];
		out[i] = (R)sum;`, number(inner), number(n), s.Table(order), s.Table(from), number(k), number(inner*n)))
		return true
	}
	if n*k > mostScatter {
		return false
	}
	s.Elements(s.Size(), fmt.Sprintf(`		index_t at = i / %[1]s %% %[2]s, o = i / %[4]s, j = i %% %[1]s;
		double sum = 0.0;
		for (index_t p = 0; p < %[3]s; p++) {
			if (in1[p] < 0 || in1[p] >= %[2]s) { fail(%[5]d); break; }
			if (in1[p] == at) sum += in0[(o * %[3]s + p) * %[1]s + j];
		}
		out[i] = (R)sum;`, number(inner), number(n), number(k), number(inner*n), FaultIndex))
	return true
}

// inverted lists the positions of each index 0 ... n-1 one after another, and where those of each
// begin; it reports false for an index out of range.
func inverted(idx []int64, n int) (order, from []int64, ok bool) {
	from = make([]int64, n+1)
	for _, i := range idx {
		if i < 0 || i >= int64(n) {
			return nil, nil, false
		}
		from[i+1]++
	}
	for i := range n {
		from[i+1] += from[i]
	}
	next := append([]int64(nil), from...)
	order = make([]int64, len(idx))
	for p, i := range idx {
		order[next[i]] = int64(p)
		next[i]++
	}
	return order, from, true
}

// ArgBest finds the first of the best elements along an axis; better is a C condition of a and b. A
// NaN is better than anything.
func ArgBest(better string) func(s *Step) bool {
	return func(s *Step) bool {
		_, inner, n := Around(s.InShape(0), s.Attr[0])
		s.Lines(s.Size(), fmt.Sprintf(`		const R *x = in0 + i / %[1]s * %[2]s + i %% %[1]s;
		index_t best = 0;
		for (index_t k = 1; k < %[3]s; k++) {
			R a = x[k * %[1]s], b = x[best * %[1]s];
			if (b == b && (a != a || %[4]s)) best = k;
		}
		out[i] = best;`, number(inner), number(inner*n), number(n), better))
		return true
	}
}

// Float converts indices to reals.
func Float(s *Step) bool {
	s.Elements(s.Size(), "\t\tout[i] = (R)in0[i];")
	return true
}

// FloorIndex converts reals to indices.
func FloorIndex(s *Step) bool {
	s.Elements(s.Size(), "\t\tR x = floor(in0[i]);\n\t\tout[i] = fabs(x) < R(2147483648.0) ? (index_t)x : -1;")
	return true
}

// TakeAlong picks elements along an axis, with indices of their own for each place outside it.
func TakeAlong(s *Step) bool {
	s.Converts()
	outer, inner, k := Around(s.Value.Shape, s.Attr[0])
	_, _, n := Around(s.InShape(0), s.Attr[0])
	own := s.Value.In[1].Size() / (outer * k)
	s.Elements(s.Size(), fmt.Sprintf(`		index_t j = i %% %[1]s, p = i / %[1]s, o = i / %[2]s;
		index_t at = in1[p * %[3]s + j / %[4]s];
		if (at < 0 || at >= %[5]s) { fail(%[6]d); continue; }
		out[i] = in0[(o * %[5]s + at) * %[1]s + j];`, number(inner), number(inner*k), number(own), number(inner/own), number(n), FaultIndex))
	s.picked(inner)
	return true
}

// ScatterAlong is the transpose of TakeAlong: a thread for each line along the axis.
func ScatterAlong(s *Step) bool {
	outer, inner, n := Around(s.Value.Shape, s.Attr[0])
	_, _, k := Around(s.InShape(0), s.Attr[0])
	if s.Value.In[1].Size() == 0 {
		s.Elements(s.Size(), "\t\tout[i] = R(0);")
		return true
	}
	own := s.Value.In[1].Size() / (outer * k)
	s.Lines(outer*inner, fmt.Sprintf(`		index_t j = i %% %[1]s, o = i / %[1]s;
		for (index_t t = 0; t < %[2]s; t++) out[(o * %[2]s + t) * %[1]s + j] = R(0);
		for (index_t p = 0; p < %[3]s; p++) {
			index_t at = in1[(o * %[3]s + p) * %[4]s + j / %[5]s];
			if (at < 0 || at >= %[2]s) { fail(%[6]d); continue; }
			out[(o * %[2]s + at) * %[1]s + j] += in0[(o * %[3]s + p) * %[1]s + j];
		}`, number(inner), number(n), number(k), number(own), number(inner/own), FaultIndex))
	return true
}
