// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/tensor"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// WriteNPZ writes the synapses as scipy.sparse.save_npz does, row by source neuron:
//
//	z = scipy.sparse.load_npz("fibre.npz")
func (c *CSR) WriteNPZ(w io.Writer) error {
	columns := c.Columns
	if columns == 0 && len(c.Targets) > 0 {
		columns = int(slices.Max(c.Targets)) + 1
	}
	z := zip.NewWriter(w)
	err := member(z, "format", func(w io.Writer) error { _, err := io.WriteString(w, csrFormat); return err })
	for _, a := range []struct {
		name string
		data any
	}{{"shape", []int64{int64(max(len(c.Starts), 1) - 1), int64(columns)}}, {"indptr", c.Starts}, {"indices", c.Targets}, {"data", c.Weights}} {
		if err == nil {
			var t *tensor.Tensor
			if t, err = tensor.From(a.data); err == nil {
				err = member(z, a.name, t.WriteNPY)
			}
		}
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("assembly: synapses: %w", err)
	}
	return nil
}

func member(z *zip.Writer, name string, write func(io.Writer) error) error {
	f, err := z.Create(name + ".npy")
	if err != nil {
		return err
	}
	return write(f)
}

// csrFormat is an NPY file without axes that holds the bytes csr.
var csrFormat = "\x93NUMPY\x01\x00\x76\x00" + fmt.Sprintf("%-117s\n", "{'descr': '|S3', 'fortran_order': False, 'shape': (), }") + "csr"

// ReadCSR reads the files of WriteNPZ and scipy.sparse.save_npz, in the format csr and with any type
// of numbers. Format and shape may be missing. SetCSR checks the contents.
func ReadCSR(r io.ReaderAt, size int64) (*CSR, error) {
	c, err := readCSR(r, size)
	if err != nil {
		return nil, fmt.Errorf("assembly: synapses: %w", err)
	}
	return c, nil
}

func readCSR(r io.ReaderAt, size int64) (*CSR, error) {
	format, err := textMember(r, size, "format.npy")
	if err != nil {
		return nil, err
	}
	if format != "" && format != "csr" {
		return nil, fmt.Errorf("the matrix is in the format %q: convert it to csr with its method tocsr", format)
	}
	arrays, err := tensor.ReadNPZ(r, size, "indptr", "indices", "data", "shape")
	if err != nil {
		return nil, err
	}
	var parts [3][]float64
	for i, name := range []string{"indptr", "indices", "data"} {
		t := arrays[name]
		if t == nil || len(t.Shape()) != 1 {
			return nil, fmt.Errorf("the array %s is missing, or has more than one axis: write the file with WriteNPZ or scipy.sparse.save_npz", name)
		}
		parts[i] = t.Float64s()
	}
	c := &CSR{Weights: parts[2]}
	for _, v := range parts[0] {
		c.Starts = append(c.Starts, int64(v))
	}
	for _, v := range parts[1] {
		if v != math.Trunc(v) || v < 0 || v > math.MaxInt32 {
			return nil, fmt.Errorf("the target %g is not the number of a neuron: want whole numbers from 0", v)
		}
		c.Targets = append(c.Targets, int32(v))
	}
	if t := arrays["shape"]; t != nil {
		shape := t.Float64s()
		if len(shape) != 2 || shape[0] != float64(len(c.Starts)-1) || !(shape[1] >= 0 && shape[1] <= math.MaxInt32) {
			return nil, fmt.Errorf("the matrix has shape %v, but %d rows: want as many", shape, len(c.Starts)-1)
		}
		c.Columns = int(shape[1])
	}
	return c, nil
}

// textMember returns the text of a member that is one NPY string of bytes or characters, or "" if
// there is no such member.
func textMember(r io.ReaderAt, size int64, name string) (string, error) {
	z, err := foreign.Zip(r, size)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return "", nil
	}
	f, err := z.File[i].Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", err
	}
	_, text, _ := bytes.Cut(b, []byte("\n"))
	return strings.ReplaceAll(string(text), "\x00", ""), nil
}
