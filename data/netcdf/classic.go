// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// Tags of lists in the header of a classic file.
const (
	tagDimension = 10
	tagVariable  = 11
	tagAttribute = 12
)

// classicTypes are the sizes of the types in bytes: byte, char, short, int, float, double, and those of CDF-5.
var classicTypes = map[uint32]int64{1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}

const (
	classicChar   = 2
	classicFloat  = 5
	classicDouble = 6
	classicUint64 = 11
)

// classic reads the header of a netCDF file of version 1 (classic), 2 (64-bit offset) or 5 (64-bit data).
//
// Format: appendix B of the NetCDF User's Guide.
type classic struct {
	b       *bytes.Reader
	version byte
	err     error
	dims    []classicDim
	records int64
}

type classicDim struct {
	name   string
	length int64 // 0 for the dimension of records
}

// classicVar is a variable as the header describes it.
type classicVar struct {
	name  string
	dims  []int64
	attrs map[string]string
	kind  uint32
	begin int64
}

// mostHeader is the largest size of a header in bytes.
const mostHeader = 16 << 20

// readClassic reads a file without groups: its variables are those of the root.
func readClassic(r io.ReaderAt, size int64) (*tensor.DataTree, error) {
	head := make([]byte, min(size, mostHeader))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, err
	}
	if v := head[3]; v != 1 && v != 2 && v != 5 {
		return nil, bad("", "the file is netCDF of the version %d, want 1, 2, 5 or netCDF 4", v)
	}
	c := &classic{b: bytes.NewReader(head[4:]), version: head[3]}
	vars, attrs, err := c.header()
	if err != nil {
		return nil, err
	}
	recordSize, err := c.recordSize(vars)
	if err != nil {
		return nil, err
	}
	if recordSize > 0 && (c.records < 0 || c.records > size/recordSize) {
		return nil, bad("", "the header says that there are %d records of %d bytes, but the file has %d bytes: copy the file again", c.records, recordSize, size)
	}
	labels := xarray.Labels(attrs)
	left := size + 64<<10 // variables may not overlap
	var all []tensor.Variable
	for _, v := range vars {
		labels = append(labels, xarray.Labels(v.attrs)...)
		x, err := c.variable(r, v, recordSize, &left)
		if err != nil {
			return nil, within(v.name, err)
		}
		all = append(all, x)
	}
	t := tensor.NewDataTree()
	if len(all) == 0 {
		t.Attrs = attrs
		return t, nil
	}
	d, err := xarray.Dataset("root", attrs, all, labels)
	if err != nil {
		return nil, &FormatError{Format: "netcdf", What: "the variables do not fit together", Err: err}
	}
	return t, t.Add(d)
}

// header reads dimensions, attributes and variables.
func (c *classic) header() (vars []classicVar, attrs map[string]string, err error) {
	c.records = c.count()
	if c.version != 5 && c.records == math.MaxUint32 {
		return nil, nil, bad("", "the file is still being written, and does not say how many records it has: close it first")
	}
	for range c.list(tagDimension) {
		c.dims = append(c.dims, classicDim{c.name(), c.count()})
	}
	attrs = c.attributes()
	for range c.list(tagVariable) {
		v := classicVar{name: c.name()}
		for range c.sensible(c.count()) {
			v.dims = append(v.dims, c.count())
		}
		v.attrs, v.kind = c.attributes(), c.u32()
		c.count() // size, which follows from the shape
		if v.begin = int64(c.u32()); c.version != 1 {
			v.begin = v.begin<<32 | int64(c.u32())
		}
		if vars = append(vars, v); c.err != nil {
			break
		}
	}
	if c.err != nil {
		return nil, nil, &FormatError{Format: "netcdf", What: "the header of the netCDF file is damaged or truncated", Err: c.err, Try: "copy the file again"}
	}
	return vars, attrs, nil
}

func (c *classic) u32() uint32 {
	var b [4]byte
	c.read(b[:])
	return binary.BigEndian.Uint32(b[:])
}

func (c *classic) read(b []byte) {
	if _, err := io.ReadFull(c.b, b); err != nil && c.err == nil {
		c.err = io.ErrUnexpectedEOF
	}
}

// count reads a number of things.
func (c *classic) count() int64 {
	n := int64(c.u32())
	if c.version == 5 {
		n = n<<32 | int64(c.u32())
	}
	return n
}

// sensible returns a number of things in the header if it has room for them, and 0 otherwise.
func (c *classic) sensible(n int64) int64 {
	if n < 0 || n > int64(c.b.Len()) {
		c.err = fmt.Errorf("it lists %d things in its last %d bytes", n, c.b.Len())
		return 0
	}
	return n
}

// list returns the length of a list with a tag, which is 0 where the list is absent.
func (c *classic) list(tag uint32) int64 {
	got, n := c.u32(), c.count()
	if got != tag && (got != 0 || n != 0) && c.err == nil {
		c.err = fmt.Errorf("a list has the tag %d, want %d", got, tag)
	}
	return c.sensible(n)
}

// padding is what fills bytes up to a multiple of 4.
func padding(n int64) int64 { return (4 - n%4) % 4 }

func (c *classic) bytes(n int64) []byte {
	b := make([]byte, c.sensible(n))
	c.read(b)
	c.read(make([]byte, min(padding(n), 3)))
	return b
}

func (c *classic) name() string { return string(c.bytes(c.count())) }

// attributes reads attributes as text.
func (c *classic) attributes() map[string]string {
	out := map[string]string{}
	for range c.list(tagAttribute) {
		name, kind, n := c.name(), c.u32(), c.count()
		size := classicTypes[kind]
		if size == 0 || n < 0 || n > 1<<40 {
			c.err = fmt.Errorf("the attribute %.40q has the type %d and %d elements", name, kind, n)
			return out
		}
		if b := c.bytes(n * size); kind == classicChar {
			out[name] = strings.TrimRight(string(b), "\x00")
		} else if c.err == nil {
			var parts []string
			switch x := classicNumbers(b, kind).(type) {
			case []int64:
				for _, v := range x {
					parts = append(parts, strconv.FormatInt(v, 10))
				}
			case []float64:
				for _, v := range x {
					parts = append(parts, strconv.FormatFloat(v, 'g', -1, 64))
				}
			}
			out[name] = strings.Join(parts, ", ")
		}
		if c.err != nil {
			return out
		}
	}
	return out
}

// classicNumbers converts numbers of a type.
func classicNumbers(b []byte, kind uint32) any {
	size := int(classicTypes[kind])
	n := len(b) / size
	if kind == classicFloat || kind == classicDouble {
		out := make([]float64, n)
		for i := range out {
			if kind == classicFloat {
				out[i] = float64(math.Float32frombits(binary.BigEndian.Uint32(b[4*i:])))
				continue
			}
			out[i] = math.Float64frombits(binary.BigEndian.Uint64(b[8*i:]))
		}
		return out
	}
	out := make([]int64, n)
	for i := range out {
		var u uint64
		for _, v := range b[i*size : (i+1)*size] {
			u = u<<8 | uint64(v)
		}
		if unused := 64 - 8*size; kind < 7 || kind == 10 {
			out[i] = int64(u<<unused) >> unused
		} else {
			out[i] = int64(u)
		}
	}
	return out
}

// shape returns the shape of a variable, without the axis of records, and whether it has that.
func (c *classic) shape(v classicVar) (shape []int64, records bool, err error) {
	for i, d := range v.dims {
		if d < 0 || d >= int64(len(c.dims)) {
			return nil, false, bad(v.name, "its dimension has the number %d, but there are %d: copy the file again", d, len(c.dims))
		}
		if n := c.dims[d].length; n > 0 {
			shape = append(shape, n)
			continue
		}
		if i > 0 {
			return nil, false, bad(v.name, "only its first dimension may be that of records: copy the file again")
		}
		records = true
	}
	return shape, records, nil
}

// bytesOf returns the size of a variable, or of one of its records.
func bytesOf(v classicVar, shape []int64) (int64, error) {
	size := classicTypes[v.kind]
	if size == 0 {
		return 0, bad(v.name, "its type has the number %d, which is unknown: copy the file again", v.kind)
	}
	for _, n := range shape {
		if n < 0 || size > math.MaxInt64/16/n {
			return 0, bad(v.name, "its shape %v is too large: copy the file again", shape)
		}
		size *= n
	}
	return size, nil
}

// recordSize returns the number of bytes from a record to the next. Variables are padded to 4 bytes, unless there is only one.
func (c *classic) recordSize(vars []classicVar) (size int64, err error) {
	n, last := 0, int64(0)
	for _, v := range vars {
		shape, records, err := c.shape(v)
		if err != nil {
			return 0, err
		}
		if !records {
			continue
		}
		b, err := bytesOf(v, shape)
		if err != nil {
			return 0, err
		}
		n, last = n+1, b
		if size += b + padding(b); size < 0 {
			return 0, bad(v.name, "its records are too large: copy the file again")
		}
	}
	if n == 1 {
		return last, nil
	}
	return size, nil
}

// variable reads a variable; left is how many bytes may still be read.
func (c *classic) variable(r io.ReaderAt, v classicVar, recordSize int64, left *int64) (x tensor.Variable, err error) {
	shape, records, err := c.shape(v)
	if err != nil {
		return x, err
	}
	each, err := bytesOf(v, shape)
	if err != nil {
		return x, err
	}
	times := int64(1)
	if records {
		times, shape = c.records, slices.Insert(shape, 0, c.records)
	}
	if each > 0 && times > *left/each {
		return x, bad(v.name, "it has %d x %d bytes, more than the file: copy the file again", times, each)
	}
	*left -= times * each
	b := make([]byte, times*each)
	for i := range times {
		if n, err := r.ReadAt(b[i*each:(i+1)*each], v.begin+i*recordSize); int64(n) < each {
			return x, &FormatError{Format: "netcdf", Place: v.name, What: "the file ends within it", Err: err, Try: "copy the file again"}
		}
	}
	x = tensor.Variable{Name: v.name, Dims: []string{}, Attrs: v.attrs, Shape: tensor.Shape{}}
	for i, d := range v.dims {
		x.Dims, x.Shape = append(x.Dims, c.dims[d].name), append(x.Shape, int(shape[i]))
	}
	return x, c.elements(&x, b, v.kind)
}

// elements converts the bytes of a variable, with what its attributes say.
func (c *classic) elements(x *tensor.Variable, b []byte, kind uint32) error {
	if kind == classicChar {
		letters := make([]string, len(b))
		for i, v := range b {
			letters[i] = string([]byte{v})
		}
		x.Data = letters
		joinCharacters(x)
		return nil
	}
	x.Data = classicNumbers(b, kind)
	if ints, ok := x.Data.([]int64); ok && kind == classicUint64 && slices.Min(append(ints, 0)) < 0 {
		return bad(x.Name, "it has unsigned numbers that do not fit int64: write smaller numbers, or floats")
	}
	fill, marked := x.Attrs["_FillValue"]
	if missing, err := strconv.ParseFloat(fill, 64); marked && err == nil {
		x.Data = withoutFill(x.Data, missing)
	}
	isBool := x.Attrs["dtype"] == "bool"
	for k := range x.Attrs {
		if reserved[k] {
			delete(x.Attrs, k)
		}
	}
	if ints, ok := x.Data.([]int64); ok && isBool {
		x.Data = xarray.Bools(ints)
	}
	if err := xarray.Unpack(x); err != nil {
		return bad(x.Name, "%v: write it from xarray with decoded values", err)
	}
	return nil
}

// withoutFill makes numbers equal to the fill value NaN. Integers become floats if any are.
func withoutFill(data any, missing float64) any {
	x := slices.Clone(tensor.Variable{Data: data}.Floats())
	found := false
	for i, v := range x {
		if v == missing {
			x[i], found = math.NaN(), true
		}
	}
	if _, floats := data.([]float64); floats || found {
		return x
	}
	return data
}
