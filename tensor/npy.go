// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// magic begins every NPY file.
const magic = "\x93NUMPY"

// Limits on what is read: NumPy's own number of axes, and a size that no sensible header reaches.
const (
	maxAxes   = 64
	maxHeader = 1 << 20 // longest header read, in bytes
)

// WriteNPY writes the array in NumPy's NPY format, version 1.0, little endian,
// C order. NumPy has at most 64 axes.
func (t *Tensor) WriteNPY(w io.Writer) error {
	if len(t.shape) > maxAxes {
		return fmt.Errorf("tensor: npy: the array has %d axes, but the format allows at most %d: reshape it", len(t.shape), maxAxes)
	}
	b := bufio.NewWriter(w)
	b.WriteString(t.npyHeader())
	k, data, n := kinds[t.dtype], t.Data(), t.Size()
	for lo := 0; lo < n; lo += pieceLen {
		if err := binary.Write(b, binary.LittleEndian, k.cut(data, lo, min(n, lo+pieceLen))); err != nil {
			return fmt.Errorf("tensor: npy: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("tensor: npy: %w", err)
	}
	return nil
}

// npyHeader is everything before the elements, padded to 64 bytes.
func (t *Tensor) npyHeader() string {
	order := "<"
	if t.dtype == Bool {
		order = "|"
	}
	dims := ""
	for _, d := range t.shape {
		dims += fmt.Sprintf("%d, ", d)
	}
	if len(t.shape) > 1 {
		dims = strings.TrimSuffix(dims, ", ")
	}
	head := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, kinds[t.dtype].descr, strings.TrimSuffix(dims, " "))
	const before = len(magic) + 4 // bytes of magic, version and header length
	head += strings.Repeat(" ", 63-(before+len(head))%64) + "\n"
	return magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(head)))) + head
}

// ReadNPY reads an array in NumPy's NPY format: versions 1 to 3, either byte order, C or Fortran
// order. Types that this package lacks (float16, unsigned and short integers) are widened; others
// are an error. It reads no further than the end of the array, and allocates at most a few times
// the number of bytes that r holds.
func ReadNPY(r io.Reader) (*Tensor, error) {
	t, err := readNPY(r)
	if err != nil {
		return nil, fmt.Errorf("tensor: npy: %w", err)
	}
	return t, nil
}

func readNPY(r io.Reader) (*Tensor, error) {
	text, err := npyText(r)
	if err != nil {
		return nil, err
	}
	descr, fortran, shape, err := npyFields(text)
	if err != nil {
		return nil, err
	}
	data, err := npyData(r, descr, shape.Size())
	if err != nil {
		return nil, err
	}
	t, err := From(data)
	if err != nil {
		return nil, err
	}
	if !fortran {
		return t.Reshape(shape...)
	}
	slices.Reverse(shape)
	if t, err = t.Reshape(shape...); err != nil {
		return nil, err
	}
	return t.Permute().Compact(), nil
}

// npyText reads the header and returns its dictionary.
func npyText(r io.Reader) (string, error) {
	var start [12]byte
	if n, err := io.ReadFull(r, start[:8]); err != nil || string(start[:6]) != magic {
		return "", fmt.Errorf("not an NPY file: it begins with %q: check the path and the format", start[:n])
	}
	width := 4
	switch start[6] {
	case 1:
		width = 2
	case 2, 3:
	default:
		return "", fmt.Errorf("format version %d.%d is not known: want version 1, 2 or 3", start[6], start[7])
	}
	if _, err := io.ReadFull(r, start[8:8+width]); err != nil {
		return "", fmt.Errorf("the header is cut short: copy the file again: %w", err)
	}
	n := binary.LittleEndian.Uint32(start[8:]) // the unread bytes are 0
	if n > maxHeader {
		return "", fmt.Errorf("the header has %d bytes: want at most %d", n, maxHeader)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return "", fmt.Errorf("the header is cut short: copy the file again: %w", err)
	}
	return string(head), nil
}

var (
	descrField   = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	fortranField = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	shapeField   = regexp.MustCompile(`'shape'\s*:\s*\(([^)]*)\)`)
)

func npyFields(text string) (descr string, fortran bool, shape Shape, err error) {
	d, f, s := descrField.FindStringSubmatch(text), fortranField.FindStringSubmatch(text), shapeField.FindStringSubmatch(text)
	if d == nil || f == nil || s == nil {
		return "", false, nil, fmt.Errorf("the header is %.80q: want a plain descr, fortran_order and shape; structured arrays (records) cannot be read", text)
	}
	shape, err = npyShape(s[1])
	return d[1], f[1] == "True", shape, err
}

// npyShape reads the inside of a Python tuple of lengths.
func npyShape(text string) (Shape, error) {
	s := Shape{}
	parts := strings.Split(text, ",")
	if strings.TrimSpace(parts[len(parts)-1]) == "" {
		parts = parts[:len(parts)-1]
	}
	for _, p := range parts {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(p), "L"))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("the shape is (%.80s): want lengths of at least 0", text)
		}
		s = append(s, n)
	}
	if len(s) > maxAxes || !s.Valid() {
		return nil, fmt.Errorf("the shape is (%.80s): want at most %d axes and lengths whose product fits an int", text, maxAxes)
	}
	return s, nil
}

// NPYHead reads the header of an NPY file and leaves r at the first element, so that a caller can
// read the array in pieces. descr gives the byte order and the type of the elements in NumPy's
// notation, such as "<u2"; fortran reports whether the first axis is the fastest.
func NPYHead(r io.Reader) (descr string, fortran bool, shape Shape, err error) {
	text, err := npyText(r)
	if err == nil {
		descr, fortran, shape, err = npyFields(text)
	}
	if err != nil {
		return "", false, nil, fmt.Errorf("tensor: npy: %w", err)
	}
	return descr, fortran, shape, nil
}
