// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strings"
)

// Concat joins arrays along an axis. Up to mostJoined of them are one kernel, in which threads look for theirs: arrays are small
// where there are many, and a launch takes longer than a look.
func Concat(s *Step) bool {
	s.Converts()
	_, inner, n := Around(s.Value.Shape, s.Attr[0])
	for first := 0; first < len(s.Value.In); first += mostJoined {
		var b strings.Builder
		from, width := 0, 0 // of the arrays of this kernel along the axis, in elements
		for _, x := range s.Value.In[:first] {
			from += x.Shape[s.Attr[0]] * inner
		}
		for k, x := range s.Value.In[first:min(first+mostJoined, len(s.Value.In))] {
			w := x.Shape[s.Attr[0]] * inner
			if w == 0 {
				continue
			}
			fmt.Fprintf(&b, "if (p < %[1]s) v = in%[2]d[o * %[3]s + p - %[4]s];\n\t\telse ", number(width+w), first+k, number(w), number(width))
			width += w
		}
		if width == 0 {
			continue
		}
		s.Elements(s.Size()/(n*inner)*width, fmt.Sprintf("\t\tconst index_t o = i / %[1]s, p = i %% %[1]s;\n\t\tR v;\n\t\t%[2]sv = R(0);\n\t\tout[o * %[3]s + %[4]s + p] = v;",
			number(width), b.String(), number(n*inner), number(from)))
	}
	return true
}

// mostJoined is the most arrays that one kernel joins.
const mostJoined = 16

// Embed places an array among zeros, from a start in steps along each axis.
func Embed(s *Step) bool {
	s.Converts()
	from, to := s.InShape(0), s.Value.Shape
	var b strings.Builder
	kind := pick(s.g.short(s.Size()), "int", "index_t")
	b.WriteString("\t\t" + kind + " rest = i, x;\n\t\tindex_t at = 0, step = 1, q;\n\t\tbool inside = true;\n")
	for d := len(to) - 1; d >= 0; d-- {
		start, by := s.Attr[3*d], s.Attr[3*d+1]
		size := "1"
		if by < 0 {
			size = "-1"
		}
		fmt.Fprintf(&b, "\t\tx = rest %% %[1]s - %[2]s; rest /= %[1]s; q = x / %[3]s;\n\t\tinside = inside && x * %[4]s >= 0 && x %% %[3]s == 0 && q < %[5]s; at += q * step; step *= %[5]s;\n",
			number(to[d]), number(start), number(by), size, number(from[d]))
	}
	b.WriteString("\t\tout[i] = inside ? in0[at] : R(0);")
	if s.Value.In[0].Size() == 0 {
		s.Elements(s.Size(), "\t\tout[i] = R(0);")
		return true
	}
	s.Elements(s.Size(), b.String())
	return true
}

// ComplexProduct multiplies pairs, the second conjugated if the attribute is 1.
func ComplexProduct(s *Step) bool {
	sign := "-"
	if s.Attr[0] == 1 {
		sign = "+"
	}
	other := map[string]string{"-": "+", "+": "-"}[sign]
	s.Elements(s.Size()/2, fmt.Sprintf(`		R a = in0[2 * i], b = in0[2 * i + 1], c = in1[2 * i], d = in1[2 * i + 1];
		out[2 * i] = a * c %s b * d;
		out[2 * i + 1] = b * c %s a * d;`, sign, other))
	return true
}

// ComplexScale multiplies pairs by reals.
func ComplexScale(s *Step) bool {
	s.Elements(s.Size()/2, "\t\tout[2 * i] = in1[i] * in0[2 * i];\n\t\tout[2 * i + 1] = in1[i] * in0[2 * i + 1];")
	return true
}

// ComplexDot is the real part of a product with the conjugate.
func ComplexDot(s *Step) bool {
	s.Elements(s.Size(), "\t\tout[i] = in0[2 * i] * in1[2 * i] + in0[2 * i + 1] * in1[2 * i + 1];")
	return true
}
