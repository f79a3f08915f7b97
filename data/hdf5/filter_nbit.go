// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"fmt"
)

// Kinds of the types that the parameters of the n-bit filter describe.
const (
	nbitAtomic   = 1
	nbitArray    = 2
	nbitCompound = 3
	nbitWhole    = 4
)

// packed describes an element stored without its unused bits: a number, of which only the
// significant bits are kept, an array or compound of packed elements, or bytes that are kept whole.
type packed struct {
	kind, size int // kind of the element, and its size in bytes
	big        bool
	precision  int // number of bits that are kept
	offset     int // position of the lowest bit that is kept
	parts      []packed
	at         []int  // offset of each member of a compound in bytes
	bits       uint64 // number of bits that an element takes in the file
}

// unbit undoes the n-bit filter. Its parameters are their own number, whether
// nothing is packed, the number of elements, and the type of one.
func (u *unpacker) unbit(b []byte, values []uint32, size uint64) ([]byte, error) {
	if len(values) < 5 {
		return nil, fmt.Errorf("the filter has %d parameters, want at least 5", len(values))
	}
	if values[1] != 0 {
		return b, nil
	}
	p := nbitParser{left: values[3:]}
	t, err := p.next(0)
	if err != nil {
		return nil, err
	}
	n := uint64(values[2])
	if n*uint64(t.size) > roomy(size) {
		return nil, fmt.Errorf("%d elements of %d bytes do not make a chunk of %d bytes", n, t.size, size)
	}
	if have := uint64(len(b)) * 8; t.bits > 0 && n > have/t.bits {
		return nil, fmt.Errorf("%d elements of %d bits do not fit %d bytes", n, t.bits, len(b))
	}
	out := u.spare(int(n) * t.size)
	clear(out)
	r := bitReader{b: b}
	for i := range int(n) {
		t.unpack(&r, out[i*t.size:(i+1)*t.size])
	}
	return u.swapBuffers(b, out), nil
}

// nbitParser reads the description of a type from the filter's parameters.
type nbitParser struct {
	left  []uint32
	short bool
}

func (p *nbitParser) take() int {
	if len(p.left) == 0 {
		p.short = true
		return 0
	}
	v := p.left[0]
	p.left = p.left[1:]
	return int(v & (1<<31 - 1))
}

func (p *nbitParser) next(depth int) (packed, error) {
	t := packed{kind: p.take(), size: p.take()}
	var err error
	switch t.kind {
	case nbitAtomic:
		t.big, t.precision, t.offset = p.take() == 1, p.take(), p.take()
		if t.precision < 1 || t.precision+t.offset > 8*t.size {
			err = fmt.Errorf("a number of %d bits at bit %d does not fit %d bytes", t.precision, t.offset, t.size)
		}
		t.bits = uint64(t.precision)
	case nbitArray:
		err = p.array(&t, depth)
	case nbitCompound:
		err = p.compound(&t, depth)
	case nbitWhole:
		t.bits = 8 * uint64(t.size)
	default:
		err = fmt.Errorf("a type has kind %d, want 1 to 4", t.kind)
	}
	switch {
	case p.short:
		err = errors.New("the parameters of the filter end too early")
	case err == nil && t.size < 1:
		err = errors.New("a type has 0 bytes, want at least 1")
	}
	return t, err
}

func (p *nbitParser) part(depth int) (packed, error) {
	if depth >= typeDepth {
		return packed{}, fmt.Errorf("the types are nested more than %d levels deep", typeDepth)
	}
	return p.next(depth + 1)
}

func (p *nbitParser) array(t *packed, depth int) error {
	base, err := p.part(depth)
	if err != nil {
		return err
	}
	if t.size%base.size != 0 {
		return fmt.Errorf("an array has %d bytes, which is not a multiple of its elements' %d", t.size, base.size)
	}
	t.parts = []packed{base}
	t.bits = base.bits * uint64(t.size/base.size)
	return nil
}

func (p *nbitParser) compound(t *packed, depth int) error {
	for n := p.take(); n > 0 && !p.short; n-- {
		at := p.take()
		m, err := p.part(depth)
		if err != nil {
			return err
		}
		if m.size > t.size-at {
			return fmt.Errorf("a member of %d bytes at byte %d does not fit a compound of %d bytes", m.size, at, t.size)
		}
		t.parts, t.at = append(t.parts, m), append(t.at, at)
		t.bits += m.bits
	}
	return nil
}

// unpack reads one element into dst, which is zeroed.
func (t *packed) unpack(r *bitReader, dst []byte) {
	switch t.kind {
	case nbitAtomic:
		t.number(r, dst)
	case nbitArray:
		base := &t.parts[0]
		for ; len(dst) >= base.size; dst = dst[base.size:] {
			base.unpack(r, dst[:base.size])
		}
	case nbitCompound:
		for i := range t.parts {
			m := &t.parts[i]
			m.unpack(r, dst[t.at[i]:t.at[i]+m.size])
		}
	default:
		for i := range dst {
			dst[i] = byte(r.read(8))
		}
	}
}

// number reads the bits that were kept, a byte of the number at a time, the
// most significant first.
func (t *packed) number(r *bitReader, dst []byte) {
	low, high := t.offset, t.offset+t.precision-1
	for k := high / 8; k >= low/8; k-- {
		top, bottom := min(high-8*k, 7), max(low-8*k, 0)
		v := byte(r.read(top-bottom+1) << bottom)
		if t.big {
			dst[t.size-1-k] = v
		} else {
			dst[k] = v
		}
	}
}
