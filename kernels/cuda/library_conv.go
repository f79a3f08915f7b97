// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"

	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// Convolution is a cross-correlation of planes stored by rows, as neural networks use it: x is (N,
// C, H, W), w is (K, C/Groups, R, S) and y is (N, K, P, Q).
//
//	y[n,k,p,q] = sum over c, r, s of w[k,c,r,s] x[n, c, p StrideH - PadH + r DilationH, q StrideW - PadW + s DilationW]
//
// Elements outside x count as 0, and c runs over the channels of the group of k.
type Convolution struct {
	Type                Type
	N, C, H, W, K, R, S int
	PadH, PadW          int
	StrideH, StrideW    int // steps of the filter down and to the right; 0 means 1
	DilationH           int // distance between rows of the filter; 0 means 1
	DilationW           int // distance between columns of the filter; 0 means 1
	Groups              int // number of groups of channels; 0 means 1
	// TF32 rounds float32 operands to 10 bits. By default products follow IEEE 754.
	TF32 bool
}

// describe fills in what is 0 and checks the shapes.
func (c Convolution) describe() (lib.Convolution, error) {
	v := lib.Convolution{N: c.N, C: c.C, H: c.H, W: c.W, K: c.K, R: c.R, S: c.S, PadH: c.PadH, PadW: c.PadW, StrideH: max(c.StrideH, 1), StrideW: max(c.StrideW, 1),
		DilationH: max(c.DilationH, 1), DilationW: max(c.DilationW, 1), Groups: max(c.Groups, 1), TF32: c.TF32}
	if err := fits32("convolution", c.N, c.C, c.H, c.W, c.K, c.R, c.S, c.PadH, c.PadW, c.StrideH, c.StrideW, c.DilationH, c.DilationW, c.Groups); err != nil {
		return v, err
	}
	if v.C%v.Groups != 0 || v.K%v.Groups != 0 {
		return v, fmt.Errorf("%w: convolution: %d input and %d output channels do not divide into %d groups: want multiples of the number of groups", ErrArgument, v.C, v.K, v.Groups)
	}
	if v.H+2*v.PadH < v.DilationH*(v.R-1)+1 || v.W+2*v.PadW < v.DilationW*(v.S-1)+1 {
		return v, fmt.Errorf("%w: convolution: the filter of %d by %d with dilations %d and %d does not fit into planes of %d by %d with paddings %d and %d: raise the padding",
			ErrArgument, v.R, v.S, v.DilationH, v.DilationW, v.H, v.W, v.PadH, v.PadW)
	}
	return v, nil
}

// Output returns the sizes P and Q of y.
func (c Convolution) Output() (p, q int) {
	v, err := c.describe()
	if err != nil {
		return 0, 0
	}
	return v.Output()
}

// Convolve puts y, the convolution of x with w, on a stream.
func (l *Libraries) Convolve(s *Stream, c Convolution, y, x, w Part) error {
	return l.convolution(s, c, lib.ConvolutionForward, x, w, y)
}

// ConvolveGradX puts the gradient of a convolution with respect to x on a stream, from w and the
// gradient dy.
func (l *Libraries) ConvolveGradX(s *Stream, c Convolution, dx, w, dy Part) error {
	return l.convolution(s, c, lib.ConvolutionData, dx, w, dy)
}

// ConvolveGradW puts the gradient of a convolution with respect to w on a stream, from x and the
// gradient dy.
func (l *Libraries) ConvolveGradW(s *Stream, c Convolution, dw, x, dy Part) error {
	return l.convolution(s, c, lib.ConvolutionFilter, x, dw, dy)
}

// convKey is a convolution that maps can find.
type convKey struct {
	t lib.Type
	c lib.Convolution
}

func (l *Libraries) convolution(s *Stream, c Convolution, pass lib.ConvolutionPass, x, w, y Part) error {
	dnn, err := l.dnn.get(lib.OpenDNN)
	if err != nil {
		return err
	}
	v, err := c.describe()
	if err != nil {
		return err
	}
	p, q := v.Output()
	size := c.Type.Size()
	operands := []operand{{"x", x, v.N * v.C * v.H * v.W, size}, {"w", w, v.K * (v.C / v.Groups) * v.R * v.S, size}, {"y", y, v.N * v.K * p * q, size}}
	out, first, second := 2, 0, 1
	switch pass {
	case lib.ConvolutionData:
		out, first, second = 0, 1, 2
	case lib.ConvolutionFilter:
		out, first, second = 1, 0, 2
	}
	if operands[out].count == 0 {
		return nil
	}
	if operands[first].count == 0 || operands[second].count == 0 {
		return s.Fill(operands[out].part.Buffer, operands[out].part.Offset, operands[out].count*size, 0)
	}
	return l.run(s, "Convolve", operands, func() error {
		h, err := l.take(s, dnnKey{}, always, func() (*tool, error) {
			h, err := dnn.Create()
			return &tool{handle: h, destroy: func() error { return dnn.Destroy(h) }}, err
		})
		if err != nil {
			return err
		}
		t, err := l.take(s, convKey{lib.Type(c.Type), v}, always, func() (*tool, error) {
			if err := l.limit(func(key any) bool { _, ok := key.(convKey); return ok }); err != nil {
				return nil, err
			}
			r, err := dnn.Describe(lib.Type(c.Type), v)
			return &tool{shape: r, destroy: func() error { dnn.Forget(r); return nil }}, err
		})
		if err != nil {
			return err
		}
		bytes, err := dnn.WorkBytes(h.handle, t.shape, pass)
		if err != nil {
			return err
		}
		work, err := l.work(s, bytes)
		if err != nil {
			return err
		}
		if err := dnn.SetStream(h.handle, s.handle); err != nil {
			return err
		}
		return dnn.Run(h.handle, lib.Type(c.Type), t.shape, pass, operands[out].address(), operands[first].address(), operands[second].address(), work, bytes)
	})
}
