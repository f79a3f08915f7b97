package infer

import (
	"encoding/binary"
	"fmt"
	"math"
)

// encoder appends numbers in little-endian order; a slice is its length and its
// elements.
type encoder struct{ b []byte }

func (e *encoder) u64(v uint64)    { e.b = binary.LittleEndian.AppendUint64(e.b, v) }
func (e *encoder) int(v int)       { e.u64(uint64(v)) }
func (e *encoder) float(v float64) { e.u64(math.Float64bits(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) bytes(v []byte) {
	e.int(len(v))
	e.b = append(e.b, v...)
}

func (e *encoder) string(v string) {
	e.int(len(v))
	e.b = append(e.b, v...)
}

func (e *encoder) floats(v []float64) {
	e.int(len(v))
	for _, x := range v {
		e.float(x)
	}
}

// decoder reads what an encoder wrote. After the first mistake it returns zeros
// and keeps the error. It never allocates more than its input has bytes.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
		d.b = nil
	}
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail("ends early: %d bytes left where %d are due", len(d.b), n)
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) u64() uint64 {
	if v := d.take(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) float() float64 { return math.Float64frombits(d.u64()) }

func (d *decoder) int() int {
	v := int64(d.u64())
	if int64(int(v)) != v {
		d.fail("number %d is too large for this machine", v)
		return 0
	}
	return int(v)
}

func (d *decoder) bool() bool {
	v := d.take(1)
	if v != nil && v[0] > 1 {
		d.fail("has a flag of value %d", v[0])
	}
	return v != nil && v[0] == 1
}

// count reads a length of items that take at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.int()
	if n < 0 || n > len(d.b)/max(size, 1) {
		d.fail("claims %d items in %d bytes", n, len(d.b))
		return 0
	}
	return n
}

func (d *decoder) bytes() []byte { return append([]byte(nil), d.take(d.count(1))...) }

func (d *decoder) string() string { return string(d.take(d.count(1))) }

func (d *decoder) floats() []float64 {
	v := make([]float64, d.count(8))
	for i := range v {
		v[i] = d.float()
	}
	return v
}

// floatsInto reads a slice that must have the length of dst.
func (d *decoder) floatsInto(dst []float64) {
	if n := d.count(8); n != len(dst) {
		d.fail("holds %d numbers where %d are due", n, len(dst))
		return
	}
	for i := range dst {
		dst[i] = d.float()
	}
}
