// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/csv"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// resultKinds lists the formats in which convert writes a result file of photon correlation.
var resultKinds = []string{"csv", "npz", "zarr", "netcdf", "json"}

// isResult reports whether a file has the layout of correlations of beamline 8-ID.
func isResult(name string) bool {
	f, err := hdf5.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Has("/xpcs/multitau") || f.Has("/xpcs/twotime")
}

// resultKind determines the format of OUT for a result file.
func resultKind(out, to string) (string, error) {
	kind := to
	if kind == "" {
		if ext := strings.ToLower(filepath.Ext(strings.TrimRight(out, "/"))); ext == ".csv" || ext == ".npz" {
			kind = ext[1:]
		} else if ext != "" {
			kind = draws.Extensions[ext]
		}
	}
	if !slices.Contains(resultKinds, kind) {
		return "", exit.Usage("convert to %s: correlations can be written as %s: give OUT one of these extensions, or use --to", out, strings.Join(resultKinds, ", "))
	}
	return kind, nil
}

// convertResult writes the correlations of a result file in another form.
func convertResult(a *frame.App, in, out, to string, c frame.Conversion) error {
	kind, err := resultKind(out, to)
	if err != nil {
		return err
	}
	replaced := kind
	if kind == "csv" { // one file and not a folder of chains
		replaced = "table"
	}
	if err := a.MayWrite(out, replaced, a.Overwrite); err != nil {
		return err
	}
	r, err := nexus.Open(in)
	if err != nil {
		return exit.Input(err)
	}
	defer r.Close()
	t, err := resultTree(r, c.Twotime)
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", in, err))
	}
	switch kind {
	case "csv":
		if r.Multitau == nil {
			return exit.With(exit.Data, fmt.Errorf("%s has no multi-tau correlation: use euryale reduce ages to make a table from a two-time correlation", in))
		}
		err = csv.Create(out, resultTable(r, !c.Plain), tableNotes(r, !c.Plain)...)
	case "npz":
		var b []byte
		if b, err = npzOf(t); err == nil {
			err = frame.WriteFile(out, b)
		}
	default:
		draws.Stamp(t)
		err = draws.Writers[kind](out, t, c)
	}
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if a.JSON {
		return a.Document(draws.DescribeTree(t, []string{in}, out, kind))
	}
	if kind == "csv" {
		a.Note("wrote %s (csv): g2 of %s at %s%s", out, errtext.Count(r.Bins(), "bin"), errtext.Count(len(r.Delays()), "delay"), map[bool]string{true: ", with the covariance of its points"}[r.Multitau.Cov != nil && !c.Plain])
		return nil
	}
	a.Note("wrote %s (%s): %s", out, kind, draws.SizesOf(t))
	return nil
}

// resultTable returns g2 of all bins as a table that fit g2 reads, with the covariance of the points unless it is not wanted. With it,
// errors are the roots of its diagonal.
func resultTable(r *nexus.Result, covariance bool) *csv.Table {
	t, m := &csv.Table{}, r.Multitau
	covariance = covariance && m.Cov != nil
	for bin := 1; bin <= r.Bins(); bin++ {
		g2, sd := m.Bin(bin)
		n := len(g2)
		if covariance {
			cov := m.Cov[bin-1]
			known := !slices.ContainsFunc(cov, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
			for i := range n {
				if !known {
					t.Cov = append(t.Cov, nil)
					continue
				}
				t.Cov = append(t.Cov, short(cov[i*n:(i+1)*n]))
			}
			if known {
				sd = short(m.Errors(bin))
			}
			if m.Pixels != nil {
				t.Samples = append(t.Samples, slices.Repeat([]float64{float64(m.Pixels[bin-1])}, n)...)
			}
			if m.Skew != nil {
				t.Skew = append(t.Skew, short(m.Skew[bin-1])...)
			}
		}
		t.Tau, t.G2, t.Err = append(t.Tau, r.Delays()...), append(t.G2, g2...), append(t.Err, sd...)
		t.Bin = append(t.Bin, slices.Repeat([]int{bin}, n)...)
		t.Q, t.Phi = append(t.Q, slices.Repeat([]float64{r.QMap.Q(bin)}, n)...), append(t.Phi, slices.Repeat([]float64{r.QMap.Phi(bin)}, n)...)
	}
	unknown := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	if axis, _ := r.QMap.Axis(0); axis != "q" || slices.ContainsFunc(t.Q, unknown) {
		t.Q = nil
	}
	if other, _ := r.QMap.Axis(1); other != "phi" || slices.ContainsFunc(t.Phi, unknown) {
		t.Phi = nil
	}
	return t
}

// tableNotes says what a table of g2 holds.
func tableNotes(r *nexus.Result, covariance bool) []string {
	notes := []string{"g2 of " + filepath.Base(r.File)}
	for bin := 1; bin <= r.Bins(); bin++ {
		notes = append(notes, fmt.Sprintf("bin %d: %s", bin, r.QMap.Label(bin)))
	}
	if covariance && r.Multitau.Cov != nil {
		notes = append(notes, "cov_1, cov_2 ... is the covariance with the first, second ... row of the same bin, from samples pixels; g2_err is the root of its diagonal")
	}
	return notes
}

// short rounds to nine digits, so that tables of covariances do not grow beyond what they say.
func short(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 9, 64), 64)
	}
	return out
}

// npzOf returns all variables of a tree, coordinates included, as one NPZ file.
func npzOf(t *tensor.DataTree) ([]byte, error) {
	arrays := map[string]*tensor.Tensor{}
	for _, d := range t.Groups() {
		for _, v := range append(d.Coords(), d.Vars()...) {
			x, err := tensor.From(v.Data, v.Shape...)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.Name, err)
			}
			arrays[v.Name] = x
		}
	}
	var b bytes.Buffer
	err := tensor.WriteNPZ(&b, arrays)
	return b.Bytes(), err
}
