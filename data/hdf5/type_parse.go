// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"math"
	"math/bits"
)

const typeDepth = 16 // largest nesting depth of types; real files use two or three

// parseType reads a datatype message from c.
func (f *File) parseType(c *cursor, at uint64, depth int) (*Type, error) {
	start := c.i
	head := c.u8()
	version, class := head>>4, Class(head&15)
	flags, size := c.uint(3), c.u32()
	t := &Type{Class: class, Size: int(size)}
	switch {
	case c.short:
		return nil, f.bad(at, "the datatype message ends after %d bytes", c.i-start)
	case version < 1 || version > 5:
		return nil, f.bad(at, "the datatype has version %d, want 1 to 5", version)
	case size == 0 || size > math.MaxInt32:
		return nil, f.bad(at, "the datatype has the impossible size of %d bytes", size)
	case depth > typeDepth:
		return nil, f.bad(at, "the datatypes are nested more than %d levels deep", typeDepth)
	}
	p := typeParser{f, c, at, version, flags, depth}
	if err := p.class(t); err != nil {
		return nil, err
	}
	if c.short {
		return nil, f.bad(at, "the datatype message ends inside a %s", t.Class.name())
	}
	return t, nil
}

func (c Class) name() string {
	names := []string{"integer", "float", "time", "string", "bit field", "opaque", "compound", "reference", "enum", "vlen", "array"}
	if c < 0 || int(c) >= len(names) {
		return "type of unknown class"
	}
	return names[c]
}

type typeParser struct {
	*File
	c       *cursor
	at      uint64
	version int
	flags   uint64
	depth   int
}

func (p *typeParser) base() (*Type, error) { return p.parseType(p.c, p.at, p.depth+1) }

func (p *typeParser) class(t *Type) error {
	switch t.Class {
	case Int, Bits:
		t.BigEndian, t.Signed = p.flags&1 != 0, p.flags&8 != 0
		t.bitOffset, t.precision = p.c.u16(), p.c.u16()
		return p.width(t)
	case Float:
		return p.float(t)
	case Time:
		p.c.skip(2)
		return nil
	case String:
		t.pad, t.UTF8 = int(p.flags&15), p.flags>>4&15 == 1
		return nil
	case Opaque:
		t.Tag = trim(p.c.take(int(p.flags & 255)))
		return nil
	case Compound:
		return p.compound(t)
	case Reference:
		return nil
	case Enum:
		return p.enum(t)
	case Vlen:
		return p.vlen(t)
	case ArrayOf:
		return p.array(t)
	}
	return p.unsupported(p.at, "write it with a simpler type", "the datatype class %d is unknown", t.Class)
}

// width checks that the bits of a number lie inside its bytes.
func (p *typeParser) width(t *Type) error {
	if !p.c.short && (t.precision < 1 || t.bitOffset+t.precision > 8*t.Size) {
		return p.bad(p.at, "a number of %d bits at bit %d does not fit %d bytes", t.precision, t.bitOffset, t.Size)
	}
	return nil
}

func (p *typeParser) float(t *Type) error {
	c := p.c
	t.BigEndian = p.flags&1 != 0
	if p.flags&0x40 != 0 {
		return p.unsupported(p.at, "write IEEE floats", "the numbers are in VAX byte order")
	}
	t.bitOffset, t.precision = c.u16(), c.u16()
	t.float = floatBits{sign: int(p.flags >> 8 & 255), norm: int(p.flags >> 4 & 3)}
	t.float.expAt, t.float.expBits = c.u8(), c.u8()
	t.float.mantAt, t.float.mantBits = c.u8(), c.u8()
	t.float.bias = int64(c.u32())
	b := t.float
	if n := 8 * t.Size; !c.short && (b.sign >= n || b.expAt+b.expBits > n || b.mantAt+b.mantBits > n || b.expBits < 1 || b.expBits > 32) {
		return p.bad(p.at, "a float of %d bytes has its sign at bit %d, its exponent at %d+%d and its mantissa at %d+%d, which is impossible", t.Size, b.sign, b.expAt, b.expBits, b.mantAt, b.mantBits)
	}
	return p.width(t)
}

func (p *typeParser) compound(t *Type) error {
	for n := int(p.flags & 0xffff); n > 0 && !p.c.short; n-- {
		m, err := p.member(t.Size)
		if err != nil {
			return err
		}
		if m.Offset < 0 || m.Type.Size > t.Size-m.Offset {
			return p.bad(p.at, "the member %q of %d bytes at byte %d does not fit a compound of %d bytes", m.Name, m.Type.Size, m.Offset, t.Size)
		}
		t.Members = append(t.Members, m)
	}
	return nil
}

func (p *typeParser) member(size int) (Member, error) {
	c := p.c
	m := Member{Name: p.name()}
	if p.version >= 3 {
		m.Offset = int(c.uint((bits.Len(uint(size)) + 7) / 8))
	} else {
		m.Offset = int(c.u32())
	}
	var dims []int
	if p.version == 1 {
		rank := c.u8()
		c.skip(11)
		for i := range 4 {
			if n := int(c.u32()); i < rank {
				dims = append(dims, n)
			}
		}
	}
	if c.short {
		return m, p.bad(p.at, "the compound ends inside the member %q", m.Name)
	}
	base, err := p.base()
	if err != nil || len(dims) == 0 {
		m.Type = base
		return m, err
	}
	m.Type = &Type{Class: ArrayOf, Base: base, Dims: dims}
	n, err := p.count(dims, base)
	m.Type.Size = n
	return m, err
}

// name reads a member's name: padded to eight bytes before version 3.
func (p *typeParser) name() string {
	from := p.c.i
	s := p.c.text()
	if r := (p.c.i - from) % 8; p.version < 3 && r != 0 {
		p.c.skip(8 - r)
	}
	return s
}

func (p *typeParser) enum(t *Type) error {
	base, err := p.base()
	if err != nil {
		return err
	}
	if base.Class != Int || base.Size != t.Size || !validInt(t.Size) {
		return p.bad(p.at, "an enum of %d bytes cannot have values of type %s", t.Size, base)
	}
	t.Base, t.Signed, t.BigEndian = base, base.Signed, base.BigEndian
	n := int(p.flags & 0xffff)
	for range n {
		if p.c.short {
			return nil
		}
		t.Names = append(t.Names, p.name())
	}
	raw := p.c.take(n * t.Size)
	if p.c.short {
		return nil
	}
	t.Values = make([]int64, n)
	return convert(t.Values, raw, base)
}

func (p *typeParser) vlen(t *Type) error {
	t.IsString, t.UTF8 = p.flags&15 == 1, p.flags>>8&15 == 1
	base, err := p.base()
	if err != nil {
		return err
	}
	t.Base = base
	if want := 8 + p.offsetSize; t.Size != want {
		return p.bad(p.at, "a variable-length element has %d bytes, want %d", t.Size, want)
	}
	return nil
}

func (p *typeParser) array(t *Type) error {
	c := p.c
	rank := c.u8()
	if p.version < 3 {
		c.skip(3)
	}
	for range rank {
		t.Dims = append(t.Dims, int(c.u32()))
	}
	if p.version < 3 {
		c.skip(4 * rank)
	}
	if c.short {
		return p.bad(p.at, "the array type ends too early")
	}
	base, err := p.base()
	if err != nil {
		return err
	}
	t.Base = base
	n, err := p.count(t.Dims, base)
	if err == nil && n != t.Size {
		err = p.bad(p.at, "an array has %d bytes, but the shape %v of type %s needs %d", t.Size, t.Dims, base, n)
	}
	return err
}

// count returns the bytes of an array of base, which must not be empty.
func (p *typeParser) count(dims []int, base *Type) (int, error) {
	n := base.Size
	for _, d := range dims {
		if d < 1 || n < 1 || n > math.MaxInt32/d {
			return 0, p.bad(p.at, "an array with the axes %v and elements of %d bytes is not possible", dims, base.Size)
		}
		n *= d
	}
	return n, nil
}
