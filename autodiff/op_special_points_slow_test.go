// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package autodiff_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// specialNumbers are ends of domains, kinks, poles and ties of the elementwise operations of the register.
var specialNumbers = []float64{math.Inf(-1), -2, -1, math.Copysign(0, -1), 0, 0.5, 1, 2, 3, math.Inf(1)}

// At ends of domains, kinks, ties and infinities, elementwise operations have a value and a gradient that are limits of
// those nearby: between those in all directions, or infinite where those grow without bound. NaN is right where numbers
// nearby have no common limit. Where they have one, NaN refuses the point, for one of the reasons in refusals.
func TestSpecialPoints(t *testing.T) {
	for _, op := range standard {
		if !op.IsElementwise() || op.Sample == nil {
			continue
		}
		t.Run(op.Name, func(t *testing.T) { compareLimits(t, op) })
	}
	for _, r := range refusals {
		for _, name := range r.ops {
			if !r.used[name] {
				t.Errorf("%s is never NaN where numbers nearby have a limit (%s): take it out of refusals", name, r.reason)
			}
		}
	}
}

// grid returns all points of special numbers of n arguments; of fewer numbers if there are three.
func grid(n int) [][]float64 {
	numbers := specialNumbers
	if n == 3 {
		numbers = []float64{math.Inf(-1), -1, 0, 1, 2, math.Inf(1)}
	}
	points := [][]float64{{}}
	for range n {
		var more [][]float64
		for _, p := range points {
			for _, v := range numbers {
				more = append(more, append(slices.Clone(p), v))
			}
		}
		points = more
	}
	return points
}

// beside returns points in all directions from p, at a distance of 2^-exponent where p is finite.
func beside(p []float64, exponent int) [][]float64 {
	points := [][]float64{{}}
	for _, v := range p {
		step := math.Ldexp(math.Max(1, math.Abs(v)), -exponent)
		near := []float64{v - step, v, v + step}
		switch {
		case v == 0:
			near = []float64{-step, v, step}
		case math.IsInf(v, 0):
			near = []float64{v, math.Copysign(math.Ldexp(1, 20*exponent), v)}
		case exponent > 40:
			near = []float64{math.Nextafter(v, math.Inf(-1)), v, math.Nextafter(v, math.Inf(1))}
		}
		var more [][]float64
		for _, q := range points {
			for _, w := range near {
				more = append(more, append(slices.Clone(q), w))
			}
		}
		points = more
	}
	return slices.DeleteFunc(points, func(q []float64) bool { return slices.Equal(p, q) })
}

func compareLimits(t *testing.T, op *ad.Op) {
	at := grid(op.Arity)
	var all [][]float64 // each point, and then those beside it
	ends := make([][2]int, len(at))
	for i, p := range at {
		near, nearer := beside(p, 30), beside(p, 50)
		all = append(append(append(all, p), near...), nearer...)
		ends[i] = [2]int{len(near), len(nearer)}
	}
	values, in := make([][]float64, op.Arity), make([]*ad.Node, op.Arity)
	for k := range in {
		in[k] = ad.Input("x", len(all))
		for _, p := range all {
			values[k] = append(values[k], p[k])
		}
	}
	y := op.Apply(in...)
	got := results(t, way{64, "go"}, append([]*ad.Node{y}, ad.Grad(y, in...)...), in, values)
	for i, from := 0, 0; i < len(at); i++ {
		near, nearer := from+1, from+1+ends[i][0]
		next := nearer + ends[i][1]
		for k := range got {
			if v, ok := limit(got[k][near:nearer], got[k][nearer:next]); ok && math.IsNaN(got[k][from]) && !refused(op.Name, k, at[i]) {
				t.Errorf("%s at %v: output %d is NaN, but %g nearby", op.Name, at[i], k, v)
			}
			if fault := outsideLimits(got[k][from], got[k][near:nearer], got[k][nearer:next]); fault != "" {
				t.Errorf("%s at %v: output %d %s", op.Name, at[i], k, fault)
			}
		}
		from = next
	}
}

// outsideLimits describes how v differs from all limits that numbers near it and nearer to it have; "" if it does not.
func outsideLimits(v float64, near, nearer []float64) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, w := range nearer {
		if math.IsNaN(w) {
			continue
		}
		lo, hi = min(lo, w), max(hi, w)
		if math.Abs(w) > 1.01*math.Abs(near[i])+1e-3 || math.Abs(w) > 1e100 {
			lo, hi = min(lo, w*math.Inf(1)), max(hi, w*math.Inf(1))
		}
	}
	slack := 1e-6 + 1e-6*max(math.Abs(lo), math.Abs(hi))
	switch {
	case math.IsNaN(v) || lo > hi:
		return ""
	case v < lo && !(v >= lo-slack), v > hi && !(v <= hi+slack):
		return fmt.Sprintf("is %g, but from %g to %g nearby", v, lo, hi)
	}
	return ""
}

// limit returns what all numbers near a point and nearer to it, but NaN, tend to; false if they have no common limit.
func limit(near, nearer []float64) (v float64, ok bool) {
	lo, hi, grows, some := math.Inf(1), math.Inf(-1), true, false
	for i, w := range nearer {
		if math.IsNaN(w) {
			continue
		}
		lo, hi, some = min(lo, w), max(hi, w), true
		grows = grows && (math.Abs(w) > 1.01*math.Abs(near[i])+1e-3 || math.Abs(w) > 1e100)
	}
	switch {
	case !some:
		return 0, false
	case grows && (lo > 0 || hi < 0):
		return math.Inf(int(math.Copysign(1, lo))), true
	}
	size := max(math.Abs(lo), math.Abs(hi))
	return lo, hi-lo <= 1e-6+1e-6*size && !math.IsInf(size, 0)
}

// refusal says why operations are NaN at points, from an output on (1 is the first derivative), where numbers nearby have a
// common limit.
type refusal struct {
	reason string
	ops    []string
	from   int
	at     func(p []float64) bool
	used   map[string]bool
}

func infinite(p []float64) bool {
	return slices.ContainsFunc(p, func(v float64) bool { return math.IsInf(v, 0) })
}

var refusals = []refusal{
	{"an infinite argument, where waves turn, and gradients of lengths, rests and powers are quotients of infinite numbers",
		[]string{"sin", "cos", "tan", "hypot", "fmod", "floor_mod", "pow_0_1", "pow_1_0", "log_ratio", "poisson_deviance"}, 0, infinite, map[string]bool{}},
	{"an infinite argument of a distribution's function: parameters are finite, and what is observed at an infinite number has no density",
		[]string{"bernoulli_loglik", "bernoulli_score", "bessel_ratio", "beta_hazard", "beta_shape_score", "f_shape_score", "gamma_p_hazard", "gamma_q_hazard", "gamma_shape_score", "log_bessel_i_scaled", "log_bessel_i_slope",
			"log_beta_density", "log_beta_i_0_0", "log_beta_i_0_1", "log_beta_i_1_0", "log_f_density", "log_gamma_p_0", "log_gamma_p_1", "log_gamma_q_0", "log_gamma_q_1", "log_mills_drop", "log_mills_mean", "log_mills_part", "log_partial_moment_0",
			"log_partial_moment_1", "mills_mean_1", "mills_moment_1", "mills_rise_1", "neg_binomial_logprob", "neg_binomial_score", "partial_moment_excess", "partial_moment_gain", "partial_moment_gain_slope",
			"skew_normal_hazard", "skew_normal_log_cdf", "skew_normal_slope", "square_fall", "square_fall_slope"}, 0, infinite, map[string]bool{}},
	{"a derivative of a third or fourth derivative at an infinite argument", []string{"bessel_log_i0e_third", "log_phi_third", "log_factorial_rest"}, 1, infinite, map[string]bool{}},
	{"shapes of 0 and below, for which there is no distribution",
		[]string{"beta_hazard", "beta_shape_score", "f_shape_score", "log_beta_density", "log_beta_i_0_0", "log_beta_i_0_1", "log_beta_i_1_0", "log_f_density"}, 0, func(p []float64) bool { return !(min(p[0], p[1]) > 0) }, map[string]bool{}},
	{"a shape or degrees of freedom of 0 and below, for which there is no distribution",
		[]string{"gamma_p_hazard", "gamma_q_hazard", "gamma_shape_score", "log_gamma_p_0", "log_gamma_p_1", "log_gamma_q_0", "log_gamma_q_1", "square_fall", "square_fall_slope"}, 0, func(p []float64) bool { return !(p[0] > 0) }, map[string]bool{}},
	{"a power of -1, for which the integral is infinite", []string{"log_partial_moment_0", "log_partial_moment_1", "partial_moment_excess", "partial_moment_gain", "partial_moment_gain_slope"}, 0, func(p []float64) bool { return p[0] == -1 }, map[string]bool{}},
	{"a size of 0 and below, or a negative count, for which there is no distribution", []string{"neg_binomial_logprob", "neg_binomial_score"}, 0, func(p []float64) bool { return !(p[2] > 0) || p[0] < 0 }, map[string]bool{}},
	{"a negative count and a negative mean", []string{"log_ratio", "poisson_deviance"}, 0, func(p []float64) bool { return p[0] < 0 && p[1] < 0 }, map[string]bool{}},
	{"the rest of a division by 0", []string{"fmod", "floor_mod"}, 0, func(p []float64) bool { return p[1] == 0 }, map[string]bool{}},
	{"a wide interval that begins left of 0, for which LogPhiDiff is meant", []string{"log_mills_mean", "log_mills_part", "mills_mean_1"}, 0, func(p []float64) bool { return p[0] < 0 && (math.Abs(p[0])+p[1])*p[1] >= 8 }, map[string]bool{}},
	{"second derivatives at the end 0, where the first ones are infinite or differences of infinite numbers",
		[]string{"gamma_p_hazard", "gamma_q_hazard", "log_gamma_p_1", "log_gamma_q_1", "log_bessel_i_slope", "mills_moment_1", "mills_rise_1"}, 1, func(p []float64) bool { return p[1] == 0 }, map[string]bool{}},
}

func refused(name string, output int, p []float64) bool {
	for _, r := range refusals {
		if output >= r.from && slices.Contains(r.ops, name) && r.at(p) {
			r.used[name] = true
			return true
		}
	}
	return false
}
