// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/peer"
)

// dense writes out a matrix.
func (c *CSR) dense() (rows [][]float64) {
	for i := range len(c.Starts) - 1 {
		row := make([]float64, c.Columns)
		for k := c.Starts[i]; k < c.Starts[i+1]; k++ {
			row[c.Targets[k]] += c.Weights[k]
		}
		rows = append(rows, row)
	}
	return rows
}

func readNPZ(t *testing.T, b []byte) (*CSR, error) {
	t.Helper()
	return ReadCSR(bytes.NewReader(b), int64(len(b)))
}

// What SciPy saves is read, and written so that it comes back.
func TestMatricesOfSciPy(t *testing.T) {
	text, err := os.ReadFile("testdata/scipy.txt")
	check(t, err)
	var want [][]float64
	for line := range strings.Lines(string(text)) {
		var row []float64
		for _, s := range strings.Fields(line) {
			v, err := strconv.ParseFloat(s, 64)
			check(t, err)
			row = append(row, v)
		}
		want = append(want, row)
	}
	same := func(name string, c *CSR) {
		t.Helper()
		if !slices.EqualFunc(c.dense(), want, func(a, b []float64) bool { return slices.Equal(a, b) }) {
			t.Errorf("%s: %v, want %v", name, c.dense(), want)
		}
	}
	for _, name := range []string{"scipy_csr", "scipy_csr32", "scipy_array"} {
		b, err := os.ReadFile("testdata/" + name + ".npz")
		check(t, err)
		c, err := readNPZ(t, b)
		check(t, err)
		same(name, c)
		var out bytes.Buffer
		check(t, c.WriteNPZ(&out))
		again, err := readNPZ(t, out.Bytes())
		check(t, err)
		same(name+" written again", again)
	}
	b, err := os.ReadFile("testdata/scipy_csc.npz")
	check(t, err)
	if _, err := readNPZ(t, b); err == nil || !strings.Contains(err.Error(), `"csc": convert it to csr with its method tocsr`) {
		t.Errorf("columns are read as rows: %v", err)
	}
}

// SciPy loads what is written.
func TestSciPyReadsMatrices(t *testing.T) {
	c := &CSR{Starts: []int64{0, 2, 2, 3}, Targets: []int32{1, 3, 0}, Weights: []float64{1, 2.5, 1}, Columns: 6}
	name := t.TempDir() + "/c.npz"
	var b bytes.Buffer
	check(t, c.WriteNPZ(&b))
	check(t, os.WriteFile(name, b.Bytes(), 0o644))
	out := peer.Python(t, "scipy").Run(t, "import sys, scipy.sparse as sp; m = sp.load_npz(sys.argv[1]); print(m.format, m.shape, m.toarray().tolist())", name)
	if want := "csr (3, 6) [[0.0, 1.0, 0.0, 2.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]"; strings.TrimSpace(out) != want {
		t.Errorf("%s, want %s", out, want)
	}
}
