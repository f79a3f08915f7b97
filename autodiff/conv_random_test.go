// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// plainConv adds up the three derivatives of sum g conv(x, w) in loops: by g, by x and by w. Shapes are those of x, w and g.
func plainConv(s ad.Convolution, xs, ws, ys []int, x, w, g []float64) (y, dx, dw []float64) {
	y, dx, dw = make([]float64, len(g)), make([]float64, len(x)), make([]float64, len(w))
	for n := range ys[0] {
		for o := range ys[1] {
			group := o / (ws[0] / s.Groups)
			for p := range ys[2] {
				for q := range ys[3] {
					at := ((n*ys[1]+o)*ys[2]+p)*ys[3] + q
					for c := range ws[1] {
						for a := range ws[2] {
							for b := range ws[3] {
								i, j := p*s.Stride[0]+a*s.Dilation[0]-s.Pad[0], q*s.Stride[1]+b*s.Dilation[1]-s.Pad[1]
								if i < 0 || j < 0 || i >= xs[2] || j >= xs[3] {
									continue
								}
								e, f := ((n*xs[1]+group*ws[1]+c)*xs[2]+i)*xs[3]+j, ((o*ws[1]+c)*ws[2]+a)*ws[3]+b
								y[at] += x[e] * w[f]
								dx[e] += g[at] * w[f]
								dw[f] += g[at] * x[e]
							}
						}
					}
				}
			}
		}
	}
	return y, dx, dw
}

func normals(rng *rand.Rand, shape []int) []float64 {
	n := 1
	for _, d := range shape {
		n *= d
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// randomConvolutions compares convolutions of random shapes, with none of a channel or an image, with filters larger than the
// image and padding larger than both, and their first and second derivatives, with plain loops.
func randomConvolutions(t *testing.T, from, to uint64, device func(seed uint64) bool) {
	for seed := from; seed < to; seed++ {
		rng := rand.New(rand.NewPCG(seed, 12))
		two := func(from, n int) [2]int { return [2]int{from + rng.IntN(n), from + rng.IntN(n)} }
		s := ad.Convolution{Stride: two(1, 3), Pad: two(0, 3), Dilation: two(1, 3), Groups: 1 + rng.IntN(3)}
		if rng.IntN(6) == 0 {
			s.Pad = two(9, 20)
		}
		size := func(most int) int { // few are 0
			if rng.IntN(12) == 0 {
				return 0
			}
			return 1 + rng.IntN(most)
		}
		c := size(3)
		xs, ws := []int{size(3), s.Groups * c, size(8), size(8)}, []int{s.Groups * size(10), c, 1 + rng.IntN(3), 1 + rng.IntN(3)}
		x, w := ad.Input("x", xs...), ad.Input("w", ws...)
		y := ad.Conv2D(x, w, s)
		if err := y.Err(); err != nil && strings.Contains(err.Error(), "beyond") && x.Size() > 0 {
			continue // a filter larger than the images
		}
		if y.Err() != nil {
			t.Fatal(y.Err())
		}
		ys := []int(y.Shape())
		g, vx, vw := ad.Input("g", ys...), ad.Input("vx", xs...), ad.Input("vw", ws...)
		in := []*ad.Node{x, w, g, vx, vw}
		var values [][]float64
		for _, n := range in {
			values = append(values, normals(rng, n.Shape()))
		}
		if seed%2 == 1 { // as behind a pooling by maxima
			for i := range values[2] {
				values[2][i] *= float64(rng.IntN(5) / 4)
			}
		}
		outs := append([]*ad.Node{y}, ad.VJP(y, g, x, w)...)
		outs = append(outs, ad.HVP(ad.Mul(g, y), []*ad.Node{x, w}, []*ad.Node{vx, vw})...)
		y1, dx, dw := plainConv(s, xs, ws, ys, values[0], values[1], values[2])
		_, hx, _ := plainConv(s, xs, ws, ys, values[0], values[4], values[2])
		_, _, hw := plainConv(s, xs, ws, ys, values[3], values[1], values[2])
		want := [][]float64{y1, dx, dw, hx, hw}
		label := fmt.Sprintf("seed %d, %+v, images %v, filters %v", seed, s, xs, ws)
		same := func(what string, got, want [][]float64, tol float64) {
			for i := range want {
				if len(got[i]) != len(want[i]) {
					t.Errorf("%s, %s, result %d: %d numbers, want %d", label, what, i, len(got[i]), len(want[i]))
					continue
				}
				nearArrays(t, fmt.Sprintf("%s, %s, result %d", label, what, i), got[i], want[i], tol)
			}
		}
		var first [][]float64
		for _, threads := range []int{1, 2, 7} {
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Backend: ad.CPU{Threads: threads}})
			if err != nil {
				t.Fatal(label, err)
			}
			st := p.NewState()
			for i, v := range values {
				if err := st.SetInput(i, v); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := st.Run(); err != nil {
					t.Fatal(label, err)
				}
			}
			var got [][]float64
			for i := range outs {
				got = append(got, st.OutputFloat64(i))
			}
			if first == nil {
				first = got
				same("float64", got, want, 1e-12)
			}
			for i := range got {
				if !slices.Equal(got[i], first[i]) {
					t.Errorf("%s: %d threads give other bits of result %d", label, threads, i)
				}
			}
		}
		same("float32", results(t, way{32, ""}, outs, in, values), want, 1e-4)
		const lanes = 2
		for _, batched := range [][]*ad.Node{{x}, {w}, {g, vx}, in} {
			got := batchOf(t, outs, in, batched, values, lanes)
			for lane := range lanes {
				var v [][]float64
				for i, e := range values {
					e = slices.Clone(e)
					for k := range e {
						if slices.Contains(batched, in[i]) {
							e[k] += 0.1 * float64(lane)
						}
					}
					v = append(v, e)
				}
				alone := results(t, way{64, ""}, outs, in, v)
				one := make([][]float64, len(got))
				for i := range got {
					for k := lane; k < len(got[i]); k += lanes {
						one[i] = append(one[i], got[i][k])
					}
				}
				same(fmt.Sprintf("batch of %v", batched), one, alone, 1e-12)
			}
		}
		if device(seed) {
			same("device", onDevice(t, outs, in, values, 64), want, 1e-12)
		}
		if t.Failed() {
			return
		}
	}
}

func TestRandomConvolutions(t *testing.T) {
	emulated(t)
	randomConvolutions(t, 0, 60, func(seed uint64) bool { return seed%20 == 0 })
}

// plainPool finds the indices of the largest elements and the sums of windows, and the mean with or without padding.
func plainPool(s ad.Pooling, xs, ys []int, x []float64) (at, sum, mean, padded []float64) {
	for plane := range xs[0] * xs[1] {
		for p := range ys[2] {
			for q := range ys[3] {
				best, total, inside, all := -1, 0.0, 0, 0
				for a := range s.Size[0] {
					for b := range s.Size[1] {
						i, j := p*s.Stride[0]+a*s.Dilation[0]-s.Pad[0], q*s.Stride[1]+b*s.Dilation[1]-s.Pad[1]
						if i < xs[2]+s.Pad[0] && j < xs[3]+s.Pad[1] {
							all++
						}
						if i < 0 || j < 0 || i >= xs[2] || j >= xs[3] {
							continue
						}
						e := i*xs[3] + j
						v := x[plane*xs[2]*xs[3]+e]
						inside++
						total += v
						if best < 0 || v > x[plane*xs[2]*xs[3]+best] || math.IsNaN(v) && !math.IsNaN(x[plane*xs[2]*xs[3]+best]) {
							best = e
						}
					}
				}
				at, sum, mean, padded = append(at, float64(best)), append(sum, total), append(mean, total/float64(inside)), append(padded, total/float64(all))
			}
		}
	}
	return at, sum, mean, padded
}

// randomPools compares pooling of random shapes with plain loops.
func randomPools(t *testing.T, from, to uint64, device func(seed uint64) bool) (done int) {
	for seed := from; seed < to; seed++ {
		rng := rand.New(rand.NewPCG(seed, 13))
		two := func(from, n int) [2]int { return [2]int{from + rng.IntN(n), from + rng.IntN(n)} }
		s := ad.Pooling{Size: two(1, 4), Stride: two(1, 3), Dilation: two(1, 2), Ceil: rng.IntN(2) == 0}
		for i := range 2 {
			s.Pad[i] = rng.IntN(s.Size[i]/2 + 1)
		}
		xs := []int{rng.IntN(3), rng.IntN(4), rng.IntN(9), rng.IntN(9)}
		x := ad.Input("x", xs...)
		sum := ad.SumPool2D(x, s)
		if sum.Err() != nil {
			continue
		}
		done++
		ys := []int(sum.Shape())
		g := ad.Input("g", ys...)
		outs := []*ad.Node{ad.Float(ad.MaxPool2DIndices(x, s)), sum, ad.AveragePool2D(x, s, false), ad.AveragePool2D(x, s, true), ad.MaxPool2D(x, s)}
		outs = append(outs, ad.VJP(sum, g, x)[0], ad.VJP(ad.MaxPool2D(x, s), g, x)[0])
		in, values := []*ad.Node{x, g}, [][]float64{normals(rng, xs), normals(rng, ys)}
		for i := range values[0] {
			values[0][i] = math.Round(2 * values[0][i]) // equal ones
			if rng.IntN(30) == 0 {
				values[0][i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
			}
		}
		at, total, mean, padded := plainPool(s, xs, ys, values[0])
		largest := make([]float64, len(at))
		spread, back := make([]float64, len(values[0])), make([]float64, len(values[0]))
		area := xs[2] * xs[3]
		for k, e := range at {
			plane := k / max(1, ys[2]*ys[3])
			largest[k] = values[0][plane*area+int(e)]
			back[plane*area+int(e)] += values[1][k]
		}
		for k := range values[0] { // the sum is linear: its gradient is the sums of units
			unit := make([]float64, len(values[0]))
			unit[k] = 1
			_, u, _, _ := plainPool(s, xs, ys, unit)
			for i := range u {
				spread[k] += u[i] * values[1][i]
			}
		}
		want := [][]float64{at, total, mean, padded, largest, spread, back}
		label := fmt.Sprintf("seed %d, %+v, images %v", seed, s, xs)
		compare := func(what string, got [][]float64) {
			for i := range want {
				for k := range want[i] {
					if a, b := got[i][k], want[i][k]; !(a == b || math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b)) {
						t.Errorf("%s, %s, result %d, element %d: %g, want %g", label, what, i, k, a, b)
						return
					}
				}
			}
		}
		compare("alone", results(t, way{64, ""}, outs, in, values))
		wide := batchOf(t, outs, in, in, values, 2)
		for i := range wide {
			for k := range want[i] {
				wide[i][k] = wide[i][2*k]
			}
		}
		compare("batch", wide)
		if device(seed) {
			compare("device", onDevice(t, outs, in, values, 64))
		}
		if t.Failed() {
			return
		}
	}
	return done
}

func TestRandomPools(t *testing.T) {
	emulated(t)
	if n := randomPools(t, 0, 150, func(seed uint64) bool { return seed%30 == 0 }); n < 50 {
		t.Errorf("only %d of the windows were possible", n)
	}
}

// Windows and filters whose sizes are not numbers of 64 bits, or that lie outside of images, are mistakes.
func TestWindowsOutside(t *testing.T) {
	x, w, empty, huge := ad.Input("x", 1, 1, 4, 4), ad.Input("w", 1, 1, 2, 2), ad.Input("empty", 1, 1, 0, 4), ad.Input("huge", 1, 1, 1<<40, 1)
	const most = math.MaxInt
	for i, y := range []*ad.Node{
		ad.Conv2D(x, w, ad.Convolution{Pad: [2]int{most, 0}}), ad.Conv2D(x, w, ad.Convolution{Dilation: [2]int{1, most}}), ad.Conv2D(x, w, ad.Convolution{Stride: [2]int{most, 1}}),
		ad.Conv2D(x, w, ad.Convolution{Groups: most}), ad.Conv2D(ad.Input("x", 1, 1<<20, 1, 1), ad.Input("w", 1<<20, 1<<20, 1, 1), ad.Convolution{Pad: [2]int{1 << 20, 1 << 20}}),
		ad.Conv2D(x, w, ad.Convolution{Groups: -1}), ad.Conv2D(x, ad.Input("w", 1, 1, 0, 2), ad.Convolution{}),
		ad.ConvTranspose2D(x, w, ad.Convolution{Stride: [2]int{most, 1}}, [2]int{}), ad.ConvTranspose2D(x, w, ad.Convolution{}, [2]int{most, 0}), ad.ConvTranspose2D(x, w, ad.Convolution{}, [2]int{0, -1}),
		ad.ConvTranspose2D(x, w, ad.Convolution{Pad: [2]int{9, 9}}, [2]int{}),
		ad.MaxPool2D(x, ad.Pooling{Size: [2]int{most, 1}}), ad.SumPool2D(x, ad.Pooling{Size: [2]int{2, 2}, Dilation: [2]int{1, most}}), ad.SumPool2D(x, ad.Pooling{Size: [2]int{2, 2}, Stride: [2]int{most, 1}}),
		ad.MaxPool2D(empty, ad.Pooling{Size: [2]int{2, 2}, Pad: [2]int{1, 1}}), ad.AveragePool2D(empty, ad.Pooling{Size: [2]int{2, 2}, Pad: [2]int{1, 0}}, false),
	} {
		if y.Err() == nil {
			t.Errorf("%d: no mistake in %v", i, y)
		}
	}
	if y := ad.SumPool2D(huge, ad.Pooling{Size: [2]int{3, 1}, Stride: [2]int{1, 1}, Pad: [2]int{1, 0}, Ceil: true}); y.Err() != nil || y.Shape()[2] != 1<<40 {
		t.Error(y)
	}
}
