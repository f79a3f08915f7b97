package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/csv"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/g2"
)

// loadCurves reads the bins of a result file (HDF5) or of a table (CSV).
func loadCurves(path string) ([]g2.Curve, error) {
	hdf, err := isHDF5(path)
	if err != nil {
		return nil, input(err)
	}
	if hdf {
		return resultCurves(path)
	}
	t, err := csv.Open(path)
	if err != nil {
		return nil, input(err)
	}
	var out []g2.Curve
	for _, b := range t.Bins() {
		s := t.Select(b)
		out = append(out, g2.Curve{Bin: b, Q: math.NaN(), Phi: math.NaN(), X: s.Tau, Y: s.G2, Err: s.Err})
	}
	if len(out) == 0 {
		return nil, as(exitData, fmt.Errorf("%s: no rows below the header", path))
	}
	return out, nil
}

func isHDF5(path string) (bool, error) {
	f, err := foreign.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	if st.IsDir() {
		return false, &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("is a folder")}
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(f, head); err != nil && st.Size() >= 8 {
		return false, err
	}
	known := strings.HasSuffix(path, ".hdf") || strings.HasSuffix(path, ".h5") || strings.HasSuffix(path, ".hdf5")
	return known || bytes.Equal(head, []byte("\x89HDF\r\n\x1a\n")), nil
}

func resultCurves(path string) ([]g2.Curve, error) {
	r, err := nexus.Open(path)
	if err != nil {
		return nil, input(err)
	}
	defer r.Close()
	if r.Multitau == nil {
		return nil, as(exitData, fmt.Errorf("%s holds %v: want a multi-tau analysis, /xpcs/multitau/normalized_g2", path, r.Analyses()))
	}
	delays := r.Delays()
	var out []g2.Curve
	for b := 1; b <= r.Bins(); b++ {
		y, sd := r.Multitau.Bin(b)
		c := g2.Curve{Bin: b, Q: math.NaN(), Phi: math.NaN(), X: delays, Y: y, Err: sd}
		if r.QMap != nil {
			c.Q, c.Phi = r.QMap.Q(b), r.QMap.Phi(b)
		}
		out = append(out, c)
	}
	return out, nil
}

// pickBins keeps the bins of a list such as "3,5-7" of a file; "all" keeps all.
func pickBins(file string, curves []g2.Curve, list string) ([]g2.Curve, error) {
	if list == "" || list == "all" {
		return curves, nil
	}
	var want []int
	for _, part := range strings.Split(list, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(lo)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(hi)
		}
		if err != nil || a < 1 || b < a || b-a > 1e6 {
			return nil, usage("bins %q: want numbers from 1 and ranges, such as 3,5-7, or all", list)
		}
		for k := a; k <= b; k++ {
			want = append(want, k)
		}
	}
	var out []g2.Curve
	for _, k := range want {
		i := slices.IndexFunc(curves, func(c g2.Curve) bool { return c.Bin == k })
		if i < 0 {
			return nil, as(exitData, fmt.Errorf("%s has no bin %d: want one of its %d bins, from %d to %d", file, k, len(curves), curves[0].Bin, curves[len(curves)-1].Bin))
		}
		out = append(out, curves[i])
	}
	return out, nil
}
