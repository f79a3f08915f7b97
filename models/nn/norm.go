// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Moments returns the mean and the biased variance of x over axes, which stay with length 1.
// Gradient: exact, including that of the variance through the mean.
func Moments(x *ad.Node, axes ...int) (mean, variance *ad.Node) {
	mean = kept(x, ad.MeanAxes(x, axes...), axes)
	return mean, kept(x, ad.MeanAxes(ad.Square(ad.Sub(x, mean)), axes...), axes)
}

// kept returns a reduction of x over axes with these axes of length 1.
func kept(x, reduced *ad.Node, axes []int) *ad.Node {
	if x.Err() != nil || reduced.Err() != nil {
		return reduced
	}
	s := x.Shape().Clone()
	for _, a := range axes {
		if a < 0 {
			a += len(s)
		}
		s[a] = 1
	}
	return ad.Reshape(reduced, s...)
}

// channels returns a vector with an element for each channel in the shape in which it broadcasts with x, whose axis 1 is the
// channels.
func channels(x, v *ad.Node) *ad.Node {
	if x.Err() != nil || v.Err() != nil || len(x.Shape()) < 2 {
		return v
	}
	s := slices.Repeat([]int{1}, len(x.Shape())-1)
	s[0] = x.Shape()[1]
	return ad.Reshape(v, s...)
}

// BatchNorm normalises each channel, axis 1, by mean and variance, which are vectors of the channels, then scales it by gamma
// and adds beta: (x - mean) / sqrt(variance + eps) gamma + beta (arXiv:1502.03167).
func BatchNorm(x, mean, variance, gamma, beta *ad.Node, eps float64) *ad.Node {
	scale := ad.Mul(gamma, ad.Rsqrt(ad.Shift(variance, eps)))
	return ad.Add(ad.Mul(ad.Sub(x, channels(x, mean)), channels(x, scale)), channels(x, beta))
}

// BatchMoments returns the mean and the biased variance of each channel, axis 1, over all other axes, as vectors, and the number
// of elements of each.
func BatchMoments(x *ad.Node) (mean, variance *ad.Node, count int) {
	if len(x.Shape()) < 2 {
		bad := ad.Fail(fmt.Errorf("nn: the input of batch normalisation has shape %v: want at least (batch, channels)", x.Shape()))
		return bad, bad, 0
	}
	axes := []int{0}
	for i := 2; i < len(x.Shape()); i++ {
		axes = append(axes, i)
	}
	mean, variance = Moments(x, axes...)
	c := x.Shape()[1]
	return ad.Reshape(mean, c), ad.Reshape(variance, c), x.Size() / max(1, c)
}

// LayerNorm normalises the last axes, as many as gamma and beta have, by their mean and variance, scales them by gamma and adds
// beta (arXiv:1607.06450).
func LayerNorm(x, gamma, beta *ad.Node, eps float64) *ad.Node {
	mean, variance := Moments(x, lastAxes(x, len(gamma.Shape()))...)
	return ad.Add(ad.Mul(ad.Mul(ad.Sub(x, mean), ad.Rsqrt(ad.Shift(variance, eps))), gamma), beta)
}

// lastAxes returns the numbers of the last n axes of x.
func lastAxes(x *ad.Node, n int) (axes []int) {
	for i := range n {
		axes = append(axes, len(x.Shape())-n+i)
	}
	return axes
}

// RMSNorm divides the last axis by the root of its mean square and scales it by gamma: x / sqrt(mean(x^2) + eps) gamma
// (arXiv:1910.07467).
func RMSNorm(x, gamma *ad.Node, eps float64) *ad.Node {
	axes := lastAxes(x, 1)
	return ad.Mul(ad.Mul(x, ad.Rsqrt(ad.Shift(kept(x, ad.MeanAxes(ad.Square(x), axes...), axes), eps))), gamma)
}

// GroupNorm normalises groups of neighbouring channels, axis 1, of each example by their mean and variance, scales each
// channel by gamma and adds beta (arXiv:1803.08494).
func GroupNorm(x, gamma, beta *ad.Node, groups int, eps float64) *ad.Node {
	s := x.Shape()
	if x.Err() == nil && (len(s) < 2 || groups < 1 || s[1]%groups != 0) {
		return ad.Fail(fmt.Errorf("nn: %d groups do not divide the channels of shape %v: want (batch, channels, ...), with channels that the groups divide", groups, s))
	}
	if x.Err() != nil {
		return x
	}
	y := ad.Reshape(x, s[0], groups, x.Size()/max(1, s[0]*groups))
	mean, variance := Moments(y, 2)
	y = ad.Reshape(ad.Mul(ad.Sub(y, mean), ad.Rsqrt(ad.Shift(variance, eps))), s...)
	return ad.Add(ad.Mul(y, channels(x, gamma)), channels(x, beta))
}

// Running returns the running statistic after one more value: (1 - momentum) running + momentum
// now. Gradient: none.
func Running(running, now *ad.Node, momentum float64) *ad.Node {
	return ad.Add(ad.Scale(1-momentum, running), ad.Scale(momentum, ad.StopGradient(now)))
}

// Unbiased returns the unbiased variance of n elements from the biased one, and 0 for one element.
func Unbiased(variance *ad.Node, n int) *ad.Node {
	return ad.Scale(float64(n)/float64(max(1, n-1)), variance)
}
