package tensor

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// magic begins every NPY file.
const magic = "\x93NUMPY"

// WriteNPY writes the array in NumPy's NPY format, version 1.0, little endian,
// C order.
func (t *Tensor) WriteNPY(w io.Writer) error {
	var dims strings.Builder
	for _, d := range t.shape {
		fmt.Fprintf(&dims, "%d, ", d)
	}
	order := "<"
	if t.dtype == Bool {
		order = "|"
	}
	head := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, dtypes[t.dtype].descr, strings.TrimSuffix(dims.String(), " "))
	if len(t.shape) == 0 {
		head = strings.Replace(head, "(,)", "()", 1)
	}
	pad := 64 - (len(magic)+4+len(head)+1)%64
	head += strings.Repeat(" ", pad%64) + "\n"
	b := bufio.NewWriter(w)
	b.WriteString(magic + "\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(head))))
	b.WriteString(head)
	if err := binary.Write(b, binary.LittleEndian, t.Data()); err != nil {
		return fmt.Errorf("tensor: npy: %w", err)
	}
	return b.Flush()
}

var (
	descrField   = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	fortranField = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	shapeField   = regexp.MustCompile(`'shape'\s*:\s*\(([^)]*)\)`)
)

// ReadNPY reads an array in NumPy's NPY format: versions 1 to 3, either byte
// order, C or Fortran order. Types that this package lacks (float16, unsigned
// and short integers) are widened; others are an error.
func ReadNPY(r io.Reader) (*Tensor, error) {
	b := bufio.NewReader(r)
	head, err := npyHeader(b)
	if err != nil {
		return nil, fmt.Errorf("tensor: npy: %w", err)
	}
	d, f, s := descrField.FindStringSubmatch(head), fortranField.FindStringSubmatch(head), shapeField.FindStringSubmatch(head)
	if d == nil || f == nil || s == nil {
		return nil, fmt.Errorf("tensor: npy: header %.80q lacks descr, fortran_order or shape", head)
	}
	shape, err := npyShape(s[1])
	if err != nil {
		return nil, fmt.Errorf("tensor: npy: %w", err)
	}
	fortran := f[1] == "True"
	if fortran {
		for i, j := 0, len(shape)-1; i < j; i, j = i+1, j-1 {
			shape[i], shape[j] = shape[j], shape[i]
		}
	}
	data, err := npyData(b, d[1], shape.Size())
	if err != nil {
		return nil, fmt.Errorf("tensor: npy: %w", err)
	}
	t, err := From(data, shape.Size())
	if err != nil {
		return nil, err
	}
	if t, err = t.Reshape(shape...); err != nil || !fortran {
		return t, err
	}
	return t.Permute().Copy(), nil
}

func npyHeader(r io.Reader) (string, error) {
	start := make([]byte, 8)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:6]) != magic {
		return "", fmt.Errorf("no NPY file: it begins with %q", start)
	}
	n := 0
	switch start[6] {
	case 1:
		var k uint16
		if err := binary.Read(r, binary.LittleEndian, &k); err != nil {
			return "", err
		}
		n = int(k)
	case 2, 3:
		var k uint32
		if err := binary.Read(r, binary.LittleEndian, &k); err != nil {
			return "", err
		}
		if n = int(k); n > 1<<20 {
			return "", fmt.Errorf("a header of %d bytes: want less than 1 MiB", n)
		}
	default:
		return "", fmt.Errorf("format version %d.%d: want 1, 2 or 3", start[6], start[7])
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return "", fmt.Errorf("the header is cut short: %w", err)
	}
	return string(head), nil
}

func npyShape(text string) (Shape, error) {
	s, size := Shape{}, 1
	for _, p := range strings.Split(text, ",") {
		p = strings.TrimSuffix(strings.TrimSpace(p), "L")
		if p == "" {
			continue
		}
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 0 && size > (1<<40)/n {
			return nil, fmt.Errorf("shape (%s): want lengths of at least 0 and less than 2^40 elements", text)
		}
		s = append(s, n)
		if n > 0 {
			size *= n
		}
	}
	return s, nil
}

// npyKinds maps NumPy's codes to the bytes of an element and its decoder.
var npyKinds = map[string]struct {
	bytes int
	dtype DType
}{"f8": {8, Float64}, "f4": {4, Float32}, "f2": {2, Float32}, "i8": {8, Int64}, "i4": {4, Int32}, "i2": {2, Int32}, "i1": {1, Int32},
	"u8": {8, Int64}, "u4": {4, Int64}, "u2": {2, Int32}, "u1": {1, Int32}, "b1": {1, Bool}, "c16": {16, Complex128}, "c8": {8, Complex64}}

// npyData decodes n elements. It reads in pieces, so that a false header
// allocates no more than the file holds.
func npyData(r io.Reader, descr string, n int) (any, error) {
	if len(descr) < 2 {
		return nil, fmt.Errorf("element type %q", descr)
	}
	kind, ok := npyKinds[descr[1:]]
	if !ok || !strings.ContainsRune("<>|=", rune(descr[0])) {
		return nil, fmt.Errorf("element type %q: want floats, integers, bool or complex numbers", descr)
	}
	var raw bytes.Buffer
	got, err := io.Copy(&raw, io.LimitReader(r, int64(n)*int64(kind.bytes)))
	if err != nil {
		return nil, err
	}
	if got != int64(n)*int64(kind.bytes) {
		return nil, fmt.Errorf("%d bytes of data, want %d for %d elements of %s: the file is cut short", got, int64(n)*int64(kind.bytes), n, descr)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	return decode(raw.Bytes(), descr[1:], kind.dtype, kind.bytes, n, order)
}

func decode(raw []byte, code string, d DType, size, n int, order binary.ByteOrder) (any, error) {
	out := d.makeSlice(n)
	if code[0] != 'u' && d.Bytes() == size {
		return out, binary.Read(bytes.NewReader(raw), order, out)
	}
	for i := range n {
		b := raw[i*size : (i+1)*size]
		switch s := out.(type) {
		case []float32:
			s[i] = half(order.Uint16(b))
		case []int32:
			s[i] = int32(short(b, code, order))
		case []int64:
			if code == "u8" {
				v := order.Uint64(b)
				if v > math.MaxInt64 {
					return nil, fmt.Errorf("element %d is %d, more than int64 holds", i, v)
				}
				s[i] = int64(v)
			} else {
				s[i] = int64(order.Uint32(b))
			}
		}
	}
	return out, nil
}

func short(b []byte, code string, order binary.ByteOrder) int {
	switch code {
	case "i1":
		return int(int8(b[0]))
	case "u1":
		return int(b[0])
	case "i2":
		return int(int16(order.Uint16(b)))
	}
	return int(order.Uint16(b))
}

// half converts an IEEE half-precision number.
func half(h uint16) float32 {
	sign, exp, frac := float64(1), int(h>>10&31), float64(h&1023)
	if h>>15 == 1 {
		sign = -1
	}
	switch exp {
	case 0:
		return float32(sign * math.Ldexp(frac, -24))
	case 31:
		if frac != 0 {
			return float32(math.NaN())
		}
		return float32(sign * math.Inf(1))
	}
	return float32(sign * math.Ldexp(1024+frac, exp-25))
}

// WriteNPZ writes named arrays as NumPy's NPZ: a zip of NPY files.
func WriteNPZ(w io.Writer, arrays map[string]*Tensor) error {
	z := zip.NewWriter(w)
	var names []string
	for n := range arrays {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		f, err := z.Create(n + ".npy")
		if err == nil {
			err = arrays[n].WriteNPY(f)
		}
		if err != nil {
			return fmt.Errorf("tensor: npz: %s: %w", n, err)
		}
	}
	return z.Close()
}

// ReadNPZ reads all arrays of an NPZ file of the given size.
func ReadNPZ(r io.ReaderAt, size int64) (map[string]*Tensor, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("tensor: npz: %w", err)
	}
	out := map[string]*Tensor{}
	for _, f := range z.File {
		rc, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("tensor: npz: %s: %w", f.Name, err)
		}
		t, err := ReadNPY(io.LimitReader(rc, 1<<34))
		rc.Close()
		if err != nil {
			return nil, fmt.Errorf("tensor: npz: %s: %w", f.Name, err)
		}
		out[strings.TrimSuffix(f.Name, ".npy")] = t
	}
	return out, nil
}
