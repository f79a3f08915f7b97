// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// poolingText declares the geometry of windows that slide over planes (planes, H, W, lanes) to (planes, P, Q, lanes).
func poolingText(s *Step, images, pools []int) string {
	a := s.Attr
	return fmt.Sprintf(`		const int H = %d, W = %d, P = %d, Q = %d, L = %d, A = %d, B = %d, down = %d, right = %d, north = %d, west = %d, downBy = %d, rightBy = %d;
`, images[2], images[3], pools[2], pools[3], a[8], a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7])
}

// window is the text that visits the elements of window i that are in the image; e is where one is.
const window = `		const int lane = i %% L, q = i / L %% Q, p = i / ((index_t)L * Q) %% P;
		const R *plane = in0 + i / ((index_t)L * Q * P) * (index_t)H * W * L + lane;
` + windows

// windows is the same where lane, q, p and the plane are known.
const windows = `		for (int a = 0; a < A; a++) {
			const int y = p * down + a * downBy - north;
			if (y < 0 || y >= H) continue;
			for (int b = 0; b < B; b++) {
				const int x = q * right + b * rightBy - west;
				if (x < 0 || x >= W) continue;
				const int e = y * W + x;
				%s
			}
		}
`

// PoolIndices finds the largest element of each window: a thread has a window.
func PoolIndices(s *Step) bool {
	s.largest("\t\tout[i] = at;")
	return true
}

// mostInLine is the number of elements of a window up to which each of them has a line of text.
const mostInLine = 16

// largest makes the kernel that finds the largest element of each window, best, and its place in the image, at, and then runs a text.
func (s *Step) largest(end string) {
	n, images, pools := s.Size(), s.InShape(0), s.Value.Shape
	k := Launch{Kernel: s.g.name("pool"), Grid: gridOf(n, s.g.choice("elements"), mostGrid), Block: block}
	k.Work = s.arrays()
	s.Begin(k)
	kind, all := "int", "unsigned"
	if !s.g.short(n) {
		kind, all = "index_t", "index_t"
	}
	s.Printf("\tfor (%[1]s i = blockIdx.x * (%[1]s)%[2]d + threadIdx.x; i < %[3]s; i += (%[1]s)gridDim.x * %[2]d) {\n%[4]s", kind, block, number(n), poolingText(s, images, pools))
	s.Printf("\t\tconst %[1]s rest = (%[1]s)i / L, line = rest / Q;\n\t\tconst int lane = (%[1]s)i %% L, q = rest %% Q, p = line %% P;\n", all)
	s.Printf("\t\tconst R *plane = in0 + line / P * ((%s)H * W * L) + lane;\n\t\tR best = 0;\n\t\tint at = -1;\n", all)
	each := "if (%s v > best || (v != v && best == best)) { best = v; at = %s; }"
	if text, ok := s.inLine(); ok {
		s.Printf("%s", text)
	} else {
		s.Printf(windows, "const R v = plane[e * L]; "+fmt.Sprintf(each, "at < 0 ||", "e"))
	}
	s.Printf("%s\n\t}\n}\n\n", end)
	s.windows(n, s.Attr[0], s.Attr[1])
	s.revise(func(w *roofline.Work) {
		terms := float64(n * s.Attr[0] * s.Attr[1])
		// As images of ptxas 12.9 have it: a window is found by divisions, and each element has three comparisons and two selections.
		w.Integers = float64(n)*(s.g.stepping(n)+2*locating-2) + 2*terms
		for _, by := range []int{s.Attr[8], pools[3], pools[2]} {
			w.Integers += float64(n) * division(by)
		}
		w.Float32 = 6 * terms
		w.Trips = turns(n, k)
		if pairs := s.Attr[8] == 1 && s.Attr[3] == 2 && s.Attr[1] == 2; pairs {
			w.Accesses -= terms / 2
		}
	})
}

// inLine returns the lines of text that find the largest element of a window, if all windows lie inside of the images and are small. Pairs of neighbours are
// loaded together where they are all of a row.
func (s *Step) inLine() (string, bool) {
	a, images, pools := s.Attr, s.InShape(0), s.Value.Shape
	reach := func(axis int) int { return (pools[2+axis]-1)*a[2+axis] + (a[axis]-1)*a[6+axis] + 1 }
	if a[4] != 0 || a[5] != 0 || reach(0) > images[2] || reach(1) > images[3] || a[0]*a[1] > mostInLine {
		return "", false
	}
	pairs := a[8] == 1 && a[1] == 2 && a[3] == 2 && a[7] == 1 && images[3]%2 == 0
	var b strings.Builder
	b.WriteString("\t\tconst int e = p * down * W + q * right;\n")
	if pairs {
		s.Shared("two", "struct __align__(2 * sizeof(R)) eu_two { R at[2]; };\n")
		b.WriteString("\t\tconst bool wide = ((size_t)in0 & (2 * sizeof(R) - 1)) == 0;\n")
	}
	for row := range a[0] {
		if pairs {
			at := row * a[6] * images[3]
			fmt.Fprintf(&b, "\t\teu_two v%[1]d;\n\t\tif (wide) v%[1]d = *(const eu_two *)(plane + e + %[2]d); else { v%[1]d.at[0] = plane[e + %[2]d]; v%[1]d.at[1] = plane[e + %[3]d]; }\n", row, at, at+1)
		}
	}
	for row := range a[0] {
		for column := range a[1] {
			at := row*a[6]*images[3] + column*a[7]
			value := fmt.Sprintf("plane[(e + %d) * L]", at)
			if pairs {
				value = fmt.Sprintf("v%d.at[%d]", row, column)
			}
			if row+column == 0 {
				fmt.Fprintf(&b, "\t\tbest = %s; at = e;\n", value)
				continue
			}
			fmt.Fprintf(&b, "\t\t{ const R v = %s; if (v > best || (v != v && best == best)) { best = v; at = e + %d; } }\n", value, at)
		}
	}
	return b.String(), true
}

// pooled makes the kernel of job i, which finds the largest elements of windows, and of the job after it, if that takes these elements: the
// places are stored only if others need them, such as a gradient. It returns nil if the jobs are not such.
func (g *generator) pooled(p *compiler.Program, i int, last []int) []Launch {
	if i+1 >= len(p.Jobs) || p.Jobs[i].Step == nil || p.Jobs[i+1].Step == nil {
		return nil
	}
	at, taken := p.Jobs[i].Step, p.Jobs[i+1].Step
	if at.Op.Name != "pool_indices" || taken.Op.Code != compiler.TakeAlong || at.Size() == 0 {
		return nil
	}
	x, from, places := at.In[0], taken.In[0], taken.In[1]
	_, inner, n := Around(from.Shape, taken.Attr[0])
	whole := places.Layout.Root == at && places.Layout.Offset == 0 && places.Size() == at.Size() && taken.Size() == at.Size()
	if !whole || from.Layout.Root != x.Layout.Root || from.Layout.Offset != x.Layout.Offset || from.Size() != x.Size() || n != x.Shape[2]*x.Shape[3] || inner != at.Attr[8] {
		return nil
	}
	s := &Step{Value: at, g: g, job: i}
	end := fmt.Sprintf("\t\tbuf[%d][i] = best;", taken.Place.Buf)
	needed := last[at.Place.Buf] > i+1
	if needed {
		end += "\n\t\tout[i] = at;"
	}
	s.largest(end)
	s.revise(func(w *roofline.Work) {
		bytes := float64(taken.Size() * g.width(taken.Place.Buf))
		w.Use(taken.Place.Buf, bytes, true)
		w.Sectors += bytes / 32
		if !needed {
			w.Arrays = slices.DeleteFunc(w.Arrays, func(a roofline.Array) bool { return a.ID == at.Place.Buf })
			w.Sectors -= float64(8*at.Size()) / 32
		}
	})
	return s.list
}

// PoolSum adds up each window: a thread has a window.
func PoolSum(s *Step) bool {
	s.Elements(s.Size(), poolingText(s, s.InShape(0), s.Value.Shape)+"		double sum = 0.0;\n"+fmt.Sprintf(window, "sum += (double)plane[(index_t)e * L];")+"		out[i] = (R)sum;")
	return true
}

// PoolSpread adds up the windows that an element is in: a thread has an element.
func PoolSpread(s *Step) bool {
	s.Elements(s.Size(), poolingText(s, s.Value.Shape, s.InShape(0))+`		const int lane = i % L, x = i / L % W, y = i / ((index_t)L * W) % H;
		const R *pools = in0 + i / ((index_t)L * W * H) * (index_t)P * Q * L + lane;
		double sum = 0.0;
		for (int a = A - 1; a >= 0; a--) {
			int p = y + north - a * downBy;
			if (p < 0 || p % down || (p /= down) >= P) continue;
			for (int b = B - 1; b >= 0; b--) {
				int q = x + west - b * rightBy;
				if (q < 0 || q % right || (q /= right) >= Q) continue;
				sum += (double)pools[((index_t)p * Q + q) * L];
			}
		}
		out[i] = (R)sum;`)
	return true
}
