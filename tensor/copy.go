// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

// Contiguous reports whether the elements lie in row-major order without gaps.
func (t *Tensor) Contiguous() bool {
	n := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 && t.strides[i] != n {
			return t.Size() == 0
		}
		n *= t.shape[i]
	}
	return true
}

// Compact returns the array itself if it is contiguous, and otherwise a copy in row-major order.
func (t *Tensor) Compact() *Tensor {
	if t.Contiguous() {
		return t
	}
	return t.Copy()
}

// Copy returns a copy in row-major order that shares no memory with the array.
func (t *Tensor) Copy() *Tensor {
	c := New(t.dtype, t.shape...)
	kinds[t.dtype].gather(c.data, t.data, t)
	return c
}

// Convert returns the array with elements of type d, or the array itself if its elements already
// have that type. Fractions are truncated and integers are clipped to the range of the type (NaN
// becomes 0). A number is true if it is not 0, and a complex number loses its imaginary part.
func (t *Tensor) Convert(d DType) *Tensor {
	if t.dtype == d {
		return t
	}
	c := New(d, t.shape...)
	i, get, set := 0, kinds[t.dtype].get, kinds[d].set
	t.rows(func(at, step, n int) {
		for range n {
			set(c.data, i, get(t.data, at))
			i, at = i+1, at+step
		}
	})
	return c
}

// Float64s returns the elements in row-major order as float64, converted by the rules of Convert.
// The slice shares memory with the array if the array is contiguous and already of this type.
func (t *Tensor) Float64s() []float64 { return t.Convert(Float64).Data().([]float64) }

// gather copies the elements of t, in order, to dst.
func gather[T any](dst, src []T, t *Tensor) {
	t.rows(func(at, step, n int) {
		if step == 1 {
			copy(dst[:n], src[at:at+n])
		} else {
			for i := range dst[:n] {
				dst[i] = src[at+i*step]
			}
		}
		dst = dst[n:]
	})
}

// rows calls f for every run of elements along the last axis, in order, with the place of its first
// element, the step to the next, and the number of elements.
func (t *Tensor) rows(f func(at, step, n int)) {
	last := len(t.shape) - 1
	if last < 0 {
		f(t.offset, 1, 1)
		return
	}
	if t.Size() == 0 {
		return
	}
	idx, at := make([]int, last), t.offset
	for {
		f(at, t.strides[last], t.shape[last])
		d := last - 1
		for ; d >= 0; d-- {
			idx[d]++
			at += t.strides[d]
			if idx[d] < t.shape[d] {
				break
			}
			at -= idx[d] * t.strides[d]
			idx[d] = 0
		}
		if d < 0 {
			return
		}
	}
}
