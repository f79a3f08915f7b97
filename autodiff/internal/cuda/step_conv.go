// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// convolutionText declares the geometry of a convolution of images (N, G C, H, W) with filters (G O, C, A, B) to
// results (N, G O, P, Q).
func convolutionText(s *Step, images, filters, results []int) string {
	g := s.Attr[6]
	return fmt.Sprintf(`		const int N = %d, G = %d, C = %d, O = %d, H = %d, W = %d, A = %d, B = %d, P = %d, Q = %d;
		const int down = %d, right = %d, north = %d, west = %d, downBy = %d, rightBy = %d;
`, images[0], g, images[1]/g, filters[0]/g, images[2], images[3], filters[2], filters[3], results[2], results[3],
		s.Attr[0], s.Attr[1], s.Attr[2], s.Attr[3], s.Attr[4], s.Attr[5])
}

// leastTile is the least number of rows and columns from which on a convolution is a product in tiles. Tests make it smaller.
var leastTile = 8

// convolution begins the product of matrices, gathered from images, filters or results, that a convolution is. It is nil if
// a thread for each element is better: where matrices are narrow, as with a group for each channel.
func convolution(s *Step, m, n, depth int) *product {
	size := max(tensor.Shape(s.InShape(0)).Size(), tensor.Shape(s.InShape(1)).Size(), s.Size())
	if min(m, n) < leastTile || depth == 0 || max(n, depth) > math.MaxInt32/2 || size > math.MaxInt32 {
		return nil
	}
	g := s.Attr[6]
	return &product{s: s, m: m, n: n, depth: depth, batches: g, name: fmt.Sprint(s.Op.Name, s.Attr, s.InShape(0), s.InShape(1)), shape: []int{g, m, n, depth}}
}

// byDNN lets cuDNN make a large convolution where it is found, and reports whether it does. pass puts one of its passes on a stream, given the memory of the result and of both
// inputs.
func byDNN(s *Step, images, filters, results []int, pass func(l *device.Libraries, on *device.Stream, c device.Convolution, out, first, second device.Part) error) bool {
	work := filters[1] * filters[2] * filters[3] * tensor.Shape(results).Size()
	buf := func(v *compiler.Value) int { return v.Layout.Root.Place.Buf }
	a, b := s.Value.In[0], s.Value.In[1]
	if s.g.libraries == nil || work < s.g.choice("library_convolution") || s.g.narrow[s.Place.Buf] || s.g.narrow[buf(a)] || s.g.narrow[buf(b)] || !s.g.libraries.HasDNN() {
		return false
	}
	c := device.Convolution{Type: device.Float64, N: images[0], C: images[1], H: images[2], W: images[3], K: filters[0], R: filters[2], S: filters[3], StrideH: s.Attr[0], StrideW: s.Attr[1],
		PadH: s.Attr[2], PadW: s.Attr[3], DilationH: s.Attr[4], DilationW: s.Attr[5], Groups: s.Attr[6], TF32: s.g.tf32}
	if s.g.precision == 32 {
		c.Type = device.Float32
	}
	if p, q := c.Output(); p != results[2] || q != results[3] { // other numbers of zeros on the other sides
		return false
	}
	size, to, first, second := s.g.precision/8, s.Place.Buf, buf(a), buf(b)
	s.list = append(s.list, Launch{Kernel: "cuDNN", Library: func(l *device.Libraries, on *device.Stream, at func(buf int) device.Part) error {
		x, y := at(first), at(second)
		x.Offset += a.Layout.Offset * size
		y.Offset += b.Layout.Offset * size
		return pass(l, on, c, at(to), x, y)
	}})
	return true
}

// gathered makes a function of two numbers that gives elements of a matrix, and returns its name.
func (x *product) gathered(images, filters, results []int, text string) string {
	name := x.s.g.name("gathered")
	if x.s.g.options.Count {
		x.finding = integers(convolutionText(x.s, images, filters, results)+text, false)
	}
	x.s.Shared(name, "static inline __device__ R "+name+"(const R *x, int p, int j) {\n"+convolutionText(x.s, images, filters, results)+text+"}\n")
	return name
}

// call returns an element that a function gives.
func call(function, of, row, column string) string {
	return function + "(" + of + ", " + row + ", " + column + ")"
}

// patches makes the function that gives element p of a filter's view of a group of images at place j.
func (x *product) patches(images, filters, results []int) string {
	return x.gathered(images, filters, results, `		const int q = j % Q, o = j / Q % P, n = j / (P * Q), b = p % B, a = p / B % A, c = p / (A * B);
		const int y = o * down + a * downBy - north, z = q * right + b * rightBy - west;
		return y >= 0 && y < H && z >= 0 && z < W ? x[((n * G * C + c) * H + y) * W + z] : R(0);
`)
}

// Conv2D correlates images with filters. It is the product of filters and of what they see at all places of all images; in
// narrow ones a thread has a result.
func Conv2D(s *Step) bool {
	images, filters, results := s.InShape(0), s.InShape(1), s.Value.Shape
	o, depth, places := filters[0]/s.Attr[6], filters[1]*filters[2]*filters[3], results[2]*results[3]
	if byDNN(s, images, filters, results, func(l *device.Libraries, on *device.Stream, c device.Convolution, out, x, w device.Part) error {
		return l.Convolve(on, c, out, x, w)
	}) {
		return true
	}
	if x := convolution(s, o, results[0]*places, depth); x != nil {
		see := x.patches(images, filters, results)
		x.open = fmt.Sprintf("const R *a = in1 + batch * %d, *b = in0 + batch * %d;", o*depth, filters[1]*images[2]*images[3])
		x.a = factor{func(row, column string) string { return fmt.Sprintf("a[(%s) * %d + %s]", row, depth, column) }, true}
		x.b = factor{func(row, column string) string { return call(see, "b", row, column) }, false}
		x.at = fmt.Sprintf("(((index_t)j / %[1]d * %[2]d + batch * %[3]d + i) * %[1]d + j %% %[1]d)", places, filters[0], o)
		x.tiles()
		return true
	}
	s.Lines(s.Size(), convolutionText(s, s.InShape(0), s.InShape(1), s.Value.Shape)+`		const int q = i % Q, p = i / Q % P, o = i / ((index_t)P * Q) % (G * O), g = o / O;
		const index_t n = i / ((index_t)P * Q * G * O);
		const R *x = in0 + (n * G + g) * (index_t)C * H * W, *w = in1 + (index_t)o * C * A * B;
		double sum = 0.0;
		for (int c = 0; c < C; c++)
		for (int a = 0; a < A; a++) {
			int y = p * down + a * downBy - north;
			if (y < 0 || y >= H) continue;
			for (int b = 0; b < B; b++) {
				int z = q * right + b * rightBy - west;
				if (z >= 0 && z < W) sum += (double)x[((index_t)c * H + y) * W + z] * w[(c * A + a) * B + b];
			}
		}
		out[i] = (R)sum;`)
	return true
}

// mostSpread is the largest product of strides up to which results are spread by a product in tiles, most of whose terms are
// zero where strides are long.
const mostSpread = 4

// ConvImages spreads results over images. It is the product of filters, with rows and columns exchanged, and of the results that
// reach the elements of images; in narrow ones a thread has an element of an image.
func ConvImages(s *Step) bool {
	images, filters, results := s.Value.Shape, s.InShape(1), s.InShape(0)
	o, taps, pixels := filters[0]/s.Attr[6], filters[2]*filters[3], images[2]*images[3]
	if byDNN(s, images, filters, results, func(l *device.Libraries, on *device.Stream, c device.Convolution, out, y, w device.Part) error {
		return l.ConvolveGradX(on, c, out, w, y)
	}) {
		return true
	}
	if x := convolution(s, filters[1], images[0]*pixels, o*taps); x != nil && s.Attr[0]*s.Attr[1] <= mostSpread {
		reach := x.gathered(images, filters, results, `		const int z = j % W, y = j / W % H, n = j / (W * H), b = p % B, a = p / B % A, o = p / (A * B);
		const int h = y + north - a * downBy, v = z + west - b * rightBy;
		if (h < 0 || v < 0 || h % down || v % right || h / down >= P || v / right >= Q) return R(0);
		return x[((n * G * O + o) * P + h / down) * Q + v / right];
`)
		x.open = fmt.Sprintf("const R *a = in1 + batch * %d, *b = in0 + batch * %d;", o*filters[1]*taps, o*results[2]*results[3])
		x.a = factor{func(row, column string) string {
			return fmt.Sprintf("a[((%[2]s) / %[3]d * %[4]d + %[1]s) * %[3]d + (%[2]s) %% %[3]d]", row, column, taps, filters[1])
		}, true}
		x.b = factor{func(row, column string) string { return call(reach, "b", row, column) }, false}
		x.at = fmt.Sprintf("(((index_t)j / %[1]d * %[2]d + batch * %[3]d + i) * %[1]d + j %% %[1]d)", pixels, images[1], filters[1])
		x.tiles()
		return true
	}
	s.Lines(s.Size(), convolutionText(s, s.Value.Shape, s.InShape(1), s.InShape(0))+`		const int z = i % W, y = i / W % H, c = i / ((index_t)W * H) % C, g = i / ((index_t)W * H * C) % G;
		const index_t n = i / ((index_t)W * H * C * G);
		const R *r = in0 + (n * G + g) * (index_t)O * P * Q, *w = in1 + ((index_t)g * O * C + c) * A * B;
		double sum = 0.0;
		for (int a = 0; a < A; a++) {
			int p = y + north - a * downBy;
			if (p < 0 || p % down || (p /= down) >= P) continue;
			for (int b = 0; b < B; b++) {
				int q = z + west - b * rightBy;
				if (q < 0 || q % right || (q /= right) >= Q) continue;
				for (int o = 0; o < O; o++) sum += (double)r[((index_t)o * P + p) * Q + q] * w[((index_t)o * C * A + a) * B + b];
			}
		}
		out[i] = (R)sum;`)
	return true
}

// ConvFilters sums over images and places. It is the product of results and of what filters see there; in narrow ones a
// thread has an element of a filter.
func ConvFilters(s *Step) bool {
	images, filters, results := s.InShape(0), s.Value.Shape, s.InShape(1)
	o, n, places := filters[0]/s.Attr[6], filters[1]*filters[2]*filters[3], results[2]*results[3]
	if byDNN(s, images, filters, results, func(l *device.Libraries, on *device.Stream, c device.Convolution, out, x, y device.Part) error {
		return l.ConvolveGradW(on, c, out, x, y)
	}) {
		return true
	}
	if x := convolution(s, o, n, results[0]*places); x != nil {
		see := x.patches(images, filters, results)
		x.open = fmt.Sprintf("const R *a = in1 + batch * %d, *b = in0 + batch * %d;", o*places, filters[1]*images[2]*images[3])
		x.a = factor{func(row, column string) string {
			return fmt.Sprintf("a[((%[2]s) / %[3]d * %[4]d + %[1]s) * %[3]d + (%[2]s) %% %[3]d]", row, column, places, filters[0])
		}, true}
		x.b = factor{func(row, column string) string { return call(see, "b", column, row) }, true}
		x.at = fmt.Sprintf("((batch * %d + i) * %d + j)", o, n)
		x.tiles()
		return true
	}
	s.Lines(s.Size(), convolutionText(s, s.InShape(0), s.Value.Shape, s.InShape(1))+`		const int b = i % B, a = i / B % A, c = i / (A * B) % C, o = i / (A * B * (index_t)C), g = o / O;
		double sum = 0.0;
		for (int n = 0; n < N; n++) {
			const R *x = in0 + (((index_t)n * G + g) * C + c) * H * W, *r = in1 + ((index_t)n * G * O + o) * P * Q;
			for (int p = 0; p < P; p++) {
				int y = p * down + a * downBy - north;
				if (y < 0 || y >= H) continue;
				for (int q = 0; q < Q; q++) {
					int z = q * right + b * rightBy - west;
					if (z >= 0 && z < W) sum += (double)x[(index_t)y * W + z] * r[(index_t)p * Q + q];
				}
			}
		}
		out[i] = (R)sum;`)
	return true
}
