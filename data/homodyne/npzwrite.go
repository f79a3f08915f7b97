// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// npzWriter writes an archive of NumPy arrays, one after another. The first error is returned by close.
type npzWriter struct {
	file *atomicfile.File
	zip  *zip.Writer
	err  error
}

func createNPZ(name string) (*npzWriter, error) {
	f, err := atomicfile.Create(name)
	if err != nil {
		return nil, err
	}
	return &npzWriter{file: f, zip: zip.NewWriter(f)}, nil
}

func (z *npzWriter) discard() { z.file.Discard() }

func (z *npzWriter) close() error {
	if z.err == nil {
		z.err = z.zip.Close()
	}
	if z.err != nil {
		z.file.Discard()
		return z.err
	}
	return z.file.Commit()
}

// array begins a member.
func (z *npzWriter) array(name, descr string, shape []int) io.Writer {
	if z.err != nil {
		return io.Discard
	}
	w, err := z.zip.Create(name + ".npy")
	if err != nil {
		z.err = err
		return io.Discard
	}
	dims := ""
	for _, n := range shape {
		dims += fmt.Sprintf("%d, ", n)
	}
	if len(shape) > 1 {
		dims = strings.TrimSuffix(dims, ", ")
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, strings.TrimSuffix(dims, " "))
	const before = 10 // bytes of magic, version and length
	head += strings.Repeat(" ", 63-(before+len(head))%64) + "\n"
	_, z.err = w.Write(append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head))), head...))
	return w
}

func (z *npzWriter) floats(name string, v []float64, shape ...int) {
	z.put(z.array(name, "<f8", shape), v)
}

// cube writes matrices of n x n numbers.
func (z *npzWriter) cube(name string, matrices [][]float64, n int) {
	w := z.array(name, "<f8", []int{len(matrices), n, n})
	for _, m := range matrices {
		z.put(w, m)
	}
}

func (z *npzWriter) put(w io.Writer, v []float64) {
	raw := make([]byte, 0, 8*min(len(v), 1<<13))
	for len(v) > 0 && z.err == nil {
		n := min(len(v), 1<<13)
		raw = raw[:0]
		for _, x := range v[:n] {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
		_, z.err = w.Write(raw)
		v = v[n:]
	}
}

// whole writes whole numbers.
func (z *npzWriter) whole(name string, v ...int) {
	w := z.array(name, "<i8", []int{len(v)})
	for _, x := range v {
		if z.err == nil {
			z.err = binary.Write(w, binary.LittleEndian, int64(x))
		}
	}
}

// text writes a single text, without axes.
func (z *npzWriter) text(name, s string) {
	n := max(utf8.RuneCountInString(s), 1)
	z.runes(z.array(name, fmt.Sprintf("<U%d", n), nil), s, n)
}

// texts writes a list of texts.
func (z *npzWriter) texts(name string, list ...string) {
	n := 1
	for _, s := range list {
		n = max(n, utf8.RuneCountInString(s))
	}
	w := z.array(name, fmt.Sprintf("<U%d", n), []int{len(list)})
	for _, s := range list {
		z.runes(w, s, n)
	}
}

func (z *npzWriter) runes(w io.Writer, s string, n int) {
	raw := make([]byte, 4*n)
	i := 0
	for _, r := range s {
		binary.LittleEndian.PutUint32(raw[4*i:], uint32(r))
		i++
	}
	if z.err == nil {
		_, z.err = w.Write(raw)
	}
}
