// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// A point is drawn again as often as its weight says on average, and never more than one time off, and the evidence gains the mean weight:
// of 40 points that are drawn 2000 times. Points whose density is 0 are not drawn.
func TestResampling(t *testing.T) {
	const n, times, step = 40, 2000, 0.3
	rests, want, sum := make([]float64, n), make([]float64, n), 0.0
	for i := range rests {
		rests[i] = -300 + 10*math.Sin(float64(3*i))
		if i%7 == 3 {
			rests[i] = math.Inf(-1)
		}
		want[i] = math.Exp(step * (rests[i] + 300))
		sum += want[i]
	}
	counts := make([]float64, n)
	for try := range uint32(times) {
		l := island{points: make([]smcPoint, n)}
		for i := range l.points {
			l.points[i] = smcPoint{q: []float64{float64(i)}, rest: rests[i]}
		}
		if err := l.resample(step, tensor.NewStream(3, purposeSMC, try)); err != nil {
			t.Fatal(err)
		}
		if z := -300*step + math.Log(sum/n); math.Abs(l.logZ-z) > 1e-9 {
			t.Fatalf("the evidence gains %g, want %g", l.logZ, z)
		}
		once := make([]float64, n)
		for _, p := range l.points {
			once[int(p.q[0])]++
		}
		for i, k := range once {
			if math.Abs(k-n*want[i]/sum) >= 1 {
				t.Fatalf("point %d was drawn %g times at once, want about %g", i, k, n*want[i]/sum)
			}
			counts[i] += k
		}
	}
	for i, k := range counts {
		if mean, share := k/times, n*want[i]/sum; math.Abs(mean-share) > 4*0.5/math.Sqrt(times) {
			t.Errorf("point %d was drawn %.3f times on average, want %.3f", i, mean, share)
		}
	}
}

// The gradient by which points move is that of the log density between the wide distribution, with modes, and the target.
func TestTemperedGradient(t *testing.T) {
	target := Func(2, func(q, g []float64) float64 {
		g[0], g[1] = -math.Sinh(q[0])+q[1], -4*q[1]*q[1]*q[1]+q[0]
		return -math.Cosh(q[0]) - math.Pow(q[1], 4) + q[0]*q[1]
	})
	path, err := pathTo(target, &Settings{InitRadius: 2, Seed: 4})
	if err != nil || len(path.modes) == 0 {
		t.Fatal(len(path.modes), err)
	}
	at := func(q ...float64) (p smcPoint) {
		p = smcPoint{q: q, g: make([]float64, 2), slope: make([]float64, 2)}
		lp, base, err := path.alone(q, p.g, p.slope)
		if err != nil {
			t.Fatal(err)
		}
		p.base, p.rest = base, lp-base
		return p
	}
	const h = 1e-5
	for _, beta := range []float64{0, 0.3, 1} {
		p, got := at(0.7, -0.9), make([]float64, 2)
		p.tempered(got, beta)
		right, left, up, down := at(0.7+h, -0.9), at(0.7-h, -0.9), at(0.7, -0.9+h), at(0.7, -0.9-h)
		for i, want := range []float64{(right.lp(beta) - left.lp(beta)) / (2 * h), (up.lp(beta) - down.lp(beta)) / (2 * h)} {
			if math.Abs(got[i]-want) > 1e-7*(1+math.Abs(want)) {
				t.Errorf("beta %g: the derivative by parameter %d is %.9g, and %.9g by differences", beta, i, got[i], want)
			}
		}
	}
}
