// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"fmt"
	"math"
	"slices"
)

// Image is an array of numbers in a file: a whole image, or a Slice of it along its first axis.
// Elements are in C order, with the last axis fastest. A mistake in Slice is kept and returned by the
// method that reads.
type Image struct {
	hdu    *HDU
	tiles  *tiles // nil for an image that is not compressed
	shape  []int
	lo, hi int // range along the first axis
	letter byte
	scaling
	err error
}

// Image returns the image of an HDU, compressed or not. It is an error if the HDU has none.
//
// DATASUM and CHECKSUM, if the header has them, are verified the first time; Verify describes the error.
func (h *HDU) Image() (*Image, error) {
	if z, _ := h.Header.Bool("ZIMAGE"); z && h.kind == "BINTABLE" {
		return h.compressed()
	}
	switch h.kind {
	case "IMAGE":
	case "GROUPS":
		e := h.bad(-1, "the data are random groups, which this package does not read: convert them to a table")
		e.Err = ErrUnsupported
		return nil, e
	default:
		e := h.bad(-1, "the HDU is a %s, not an image", h.kind)
		e.Err, e.Try = ErrType, "use Table"
		return nil, e
	}
	if err := h.verified(); err != nil {
		return nil, err
	}
	bitpix, _ := h.Header.Int("BITPIX")
	im := &Image{hdu: h, letter: bitpixLetter[int(bitpix)], scaling: h.imageScaling("BLANK")}
	shape, err := h.axes("NAXIS")
	if err != nil {
		return nil, err
	}
	return im.whole(shape)
}

// axes returns the lengths under NAXISn or ZNAXISn in C order.
func (h *HDU) axes(key string) ([]int, error) {
	n, ok := h.Header.Int(key)
	if !ok || n < 0 || n > 999 {
		return nil, h.bad(-1, "%s is %v: want 0 to 999", key, h.value(key))
	}
	shape := make([]int, n)
	for i := range shape {
		d, ok := h.Header.Int(fmt.Sprintf("%s%d", key, i+1))
		if !ok || d < 0 || d > math.MaxInt {
			return nil, h.bad(-1, "%s%d is %v: want 0 or more", key, i+1, h.value(fmt.Sprintf("%s%d", key, i+1)))
		}
		shape[len(shape)-1-i] = int(d)
	}
	return shape, nil
}

func (im *Image) whole(shape []int) (*Image, error) {
	n, empty := 1, len(shape) == 0
	for _, d := range shape {
		if d == 0 {
			empty = true
		} else if n > math.MaxInt/d/16 {
			return nil, im.hdu.bad(-1, "an image of the shape %v has too many elements", shape)
		} else {
			n *= d
		}
	}
	im.shape = shape
	if len(shape) > 0 {
		im.hi = shape[0]
	}
	if empty {
		im.tiles = nil
	}
	return im, nil
}

func (h *HDU) imageScaling(blank string) scaling {
	s := scaling{scale: 1}
	if v, ok := h.Header.Float("BSCALE"); ok {
		s.scale = v
	}
	if v, ok := h.Header.Float("BZERO"); ok {
		s.zero = v
	}
	if v, ok := h.Header.Int(blank); ok {
		s.null, s.hasNull = v, true
	}
	return s
}

// Header returns the header of the image's HDU.
func (im *Image) Header() *Header { return im.hdu.Header }

// Shape returns the lengths of the axes; an HDU without data has none.
func (im *Image) Shape() []int {
	s := slices.Clone(im.shape)
	if len(s) > 0 {
		s[0] = im.hi - im.lo
	}
	return s
}

// Len returns the number of elements.
func (im *Image) Len() int {
	if len(im.shape) == 0 {
		return 0
	}
	return (im.hi - im.lo) * im.row()
}

// row returns the number of elements of one step along the first axis.
func (im *Image) row() int {
	n := 1
	for _, d := range im.shape[1:] {
		n *= d
	}
	return n
}

// Type returns the Go type of an element as stored: uint8, int16, int32, int64, float32 or float64.
// With BSCALE or BZERO the physical values differ from the stored ones.
func (im *Image) Type() string { return letterType[im.letter] }

// Slice returns the part from lo up to but not including hi along the first axis. It does not read
// anything yet.
func (im *Image) Slice(lo, hi int) *Image {
	out := *im
	if len(im.shape) == 0 || lo < 0 || hi < lo || hi > im.hi-im.lo {
		if out.err == nil {
			out.err = im.hdu.bad(-1, "rows %d to %d were asked for, but the image has the shape %v", lo, hi, im.Shape())
		}
		return &out
	}
	out.lo, out.hi = im.lo+lo, im.lo+hi
	return &out
}

// Float64s returns the elements as float64; undefined ones are NaN.
func (im *Image) Float64s() ([]float64, error) {
	if err := im.check(8); err != nil {
		return nil, err
	}
	dst := make([]float64, im.Len())
	return dst, im.Float64sTo(dst)
}

// Float64sTo stores what Float64s returns in dst, whose length must be Len.
func (im *Image) Float64sTo(dst []float64) error {
	if len(dst) != im.Len() {
		return im.hdu.bad(-1, "dst has %d elements: want %d", len(dst), im.Len())
	}
	return im.each(func(raw []byte, letter byte, s *scaling, at, n int) error {
		s.floats(dst[at:at+n], raw, letter)
		return nil
	})
}

// Float32s returns the elements as float32, rounded to nearest; undefined ones are NaN.
func (im *Image) Float32s() ([]float32, error) {
	if err := im.check(4); err != nil {
		return nil, err
	}
	dst := make([]float32, im.Len())
	return dst, im.Float32sTo(dst)
}

// Float32sTo stores what Float32s returns in dst, whose length must be Len.
func (im *Image) Float32sTo(dst []float32) error {
	if len(dst) != im.Len() {
		return im.hdu.bad(-1, "dst has %d elements: want %d", len(dst), im.Len())
	}
	return im.each(func(raw []byte, letter byte, s *scaling, at, n int) error {
		s.float32s(dst[at:at+n], raw, letter)
		return nil
	})
}

// Int64s returns integer elements, including unsigned ones. Undefined elements keep the number given by
// BLANK.
func (im *Image) Int64s() ([]int64, error) {
	if err := im.check(8); err != nil {
		return nil, err
	}
	dst := make([]int64, im.Len())
	err := im.each(func(raw []byte, letter byte, s *scaling, at, n int) error {
		return im.typed(s.ints(dst[at:at+n], raw, letter))
	})
	return dst, err
}

// Int32s returns integer elements; a value that int32 cannot hold is an error.
func (im *Image) Int32s() ([]int32, error) {
	if err := im.check(4); err != nil {
		return nil, err
	}
	dst := make([]int32, im.Len())
	wide := make([]int64, 4096)
	err := im.each(func(raw []byte, letter byte, s *scaling, at, n int) error {
		size := int(letterSize[letter])
		for n > 0 {
			k := min(n, len(wide))
			if err := s.ints(wide[:k], raw, letter); err != nil {
				return im.typed(err)
			}
			for i, v := range wide[:k] {
				if v != int64(int32(v)) {
					return im.typed(fmt.Errorf("%w: %d is too large for int32: use Int64s", ErrType, v))
				}
				dst[at+i] = int32(v)
			}
			raw, at, n = raw[k*size:], at+k, n-k
		}
		return nil
	})
	return dst, err
}

// Uint64s returns integer elements; a negative one is an error.
func (im *Image) Uint64s() ([]uint64, error) {
	if err := im.check(8); err != nil {
		return nil, err
	}
	dst := make([]uint64, im.Len())
	err := im.each(func(raw []byte, letter byte, s *scaling, at, n int) error {
		return im.typed(s.uints(dst[at:at+n], raw, letter))
	})
	return dst, err
}

func (im *Image) typed(err error) error { return im.hdu.typed(err) }

// typed gives an error about types its place.
func (h *HDU) typed(err error) error {
	if err == nil {
		return nil
	}
	e := h.bad(-1, "%s", err)
	e.Err = ErrType
	return e
}

// check reports an error unless the elements are there and may be allocated.
func (im *Image) check(size int64) error {
	if im.err != nil || im.Len() == 0 {
		return im.err
	}
	if im.tiles != nil {
		return im.hdu.room(int64(im.Len()), size)
	}
	stored := letterSize[im.letter]
	return im.hdu.present(int64(im.lo)*int64(im.row())*stored, int64(im.Len())*stored)
}

// each calls f with pieces of the elements as stored.
func (im *Image) each(f func(raw []byte, letter byte, s *scaling, at, n int) error) error {
	if im.err != nil || im.Len() == 0 {
		return im.err
	}
	if im.tiles != nil {
		return im.tiles.each(im, f)
	}
	size := int(letterSize[im.letter])
	total := im.Len()
	if err := im.hdu.present(int64(im.lo*im.row()*size), int64(total*size)); err != nil {
		return err
	}
	buf := make([]byte, min(total*size, 1<<20))
	for at := 0; at < total; {
		n := min(total-at, len(buf)/size)
		if err := im.hdu.reading(buf[:n*size], int64((im.lo*im.row()+at)*size)); err != nil {
			return err
		}
		if err := f(buf, im.letter, &im.scaling, at, n); err != nil {
			return err
		}
		at += n
	}
	return nil
}
