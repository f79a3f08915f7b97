// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// Transform is the kind of a Fourier transform.
type Transform = lib.Transform

// The kinds of Fourier transforms.
const (
	// ComplexTransform transforms complex numbers, stored as pairs, to complex numbers.
	ComplexTransform = lib.Complex
	// RealToComplex transforms n real numbers along the last axis to n/2+1 complex ones.
	RealToComplex = lib.RealToComplex
	// ComplexToReal is the inverse of RealToComplex.
	ComplexToReal = lib.ComplexToReal
)

// FFT describes a batch of Fourier transforms of dense arrays that follow each other.
//
//	forward: y_k = sum_j x_j exp(-2 pi i jk/n), inverse: the same with exp(+2 pi i jk/n)
//
// Neither is divided by n. Shape has one to three axes, the slowest first, and is that of the array of
// n numbers also for transforms between real and complex numbers.
type FFT struct {
	Type  Type
	Kind  Transform
	Shape []int
	Batch int // number of transforms; 0 means 1
}

// planKey is an FFT that maps can find.
type planKey struct {
	t     Type
	kind  Transform
	rank  int
	shape [3]int
	batch int
}

// numbers returns how many numbers of the type the input and the output of the batch have.
func (f FFT) numbers() (in, out int) {
	all, half := f.Batch, f.Batch
	for i, n := range f.Shape {
		all *= n
		if i == len(f.Shape)-1 {
			n = n/2 + 1
		}
		half *= n
	}
	switch f.Kind {
	case RealToComplex:
		return all, 2 * half
	case ComplexToReal:
		return 2 * half, all
	}
	return 2 * all, 2 * all
}

// FFT puts Fourier transforms on a stream. Plans are cached. Complex transforms may be done in
// place. Transforms from complex to real numbers may overwrite their input. inverse applies to
// complex transforms only.
func (l *Libraries) FFT(s *Stream, f FFT, dst, src Part, inverse bool) error {
	fft, err := l.fft.get(lib.OpenFFT)
	if err != nil {
		return err
	}
	f.Batch = max(f.Batch, 1)
	if len(f.Shape) < 1 || len(f.Shape) > 3 || f.Kind < ComplexTransform || f.Kind > ComplexToReal {
		return fmt.Errorf("%w: FFT has kind %d and shape %v: want a kind of this package, and one to three axes", ErrArgument, f.Kind, f.Shape)
	}
	key := planKey{t: f.Type, kind: f.Kind, rank: len(f.Shape), batch: f.Batch}
	for i, n := range f.Shape {
		if n < 1 {
			return fmt.Errorf("%w: FFT has shape %v: want lengths of at least 1", ErrArgument, f.Shape)
		}
		key.shape[i] = n
	}
	in, out := f.numbers()
	// Pairs of numbers are read at once, so complex arrays begin at multiples of their size.
	sizes := [2]int{f.Type.Size(), f.Type.Size()}
	operands := []operand{{"the source", src, in, sizes[0]}, {"the destination", dst, out, sizes[1]}}
	for i, o := range operands {
		complex := f.Kind == ComplexTransform || (f.Kind == RealToComplex) == (i == 1)
		if complex && o.part.Offset%(2*o.size) != 0 {
			return fmt.Errorf("%w: FFT: %s begins at byte %d: want a multiple of %d", ErrArgument, o.name, o.part.Offset, 2*o.size)
		}
	}
	if f.Kind != ComplexTransform && src.Buffer == dst.Buffer && src.Offset < dst.Offset+out*f.Type.Size() && dst.Offset < src.Offset+in*f.Type.Size() {
		return fmt.Errorf("%w: FFT between real and complex numbers: source and destination overlap: use separate buffers", ErrArgument)
	}
	return l.run(s, "FFT", operands, func() error {
		t, err := l.take(s, key, always, func() (*tool, error) { return l.plan(fft, f) })
		if err != nil {
			return err
		}
		w, err := l.work(s, t.bytes)
		if err != nil {
			return err
		}
		err = fft.SetStream(t.handle, s.handle)
		if t.bytes > 0 {
			err = errors.Join(err, fft.SetWork(t.handle, w))
		}
		if err != nil {
			return err
		}
		return fft.Exec(t.handle, lib.Type(f.Type), f.Kind, inverse, operands[1].address(), operands[0].address())
	})
}

func (l *Libraries) plan(fft lib.FFT, f FFT) (*tool, error) {
	if err := l.limit(func(key any) bool { _, ok := key.(planKey); return ok }); err != nil {
		return nil, err
	}
	h, bytes, err := fft.Plan(lib.Type(f.Type), f.Kind, f.Shape, f.Batch)
	if err != nil {
		return nil, fmt.Errorf("cannot plan %d transforms of shape %v: %w", f.Batch, f.Shape, err)
	}
	return &tool{handle: h, bytes: bytes, destroy: func() error { return fft.Destroy(h) }}, nil
}
