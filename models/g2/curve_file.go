// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/csv"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// OpenCurves reads the bins of a result file in the APS 8-ID layout (HDF5), with the covariance of
// their points if Euryale has correlated the frames, or of a table (CSV) with the columns tau, g2
// and, if known, g2_err and bin, and with the covariance if convert has written it.
func OpenCurves(path string) ([]Curve, error) {
	hdf, err := isHDF5(path)
	if err != nil {
		return nil, err
	}
	if hdf {
		return resultCurves(path)
	}
	t, err := csv.Open(path)
	if err != nil {
		return nil, err
	}
	var out []Curve
	var told []check.Alteration
	if t.Decimal {
		told = []check.Alteration{{Kind: "decimal commas", Count: len(t.Tau), Note: true, Text: "the commas in numbers were read as decimal points", Remedy: "remove them if they group digits in thousands"}}
	}
	if t.Seconds {
		told = append(told, check.Alteration{Kind: "delays without a unit", Count: len(t.Tau), Note: true, Text: "delays are taken to be in seconds, as their column gives no unit", Remedy: "name the column tau (ms), tau (us) or the like if they are in another unit"})
	}
	for _, b := range t.Bins() {
		s := t.Select(b)
		c := Curve{Bin: b, flaws: told, Q: math.NaN(), Phi: math.NaN(), X: s.Tau, Y: s.G2, Err: s.Err}
		for to, column := range map[*float64][]float64{&c.Age: s.Age, &c.Q: s.Q, &c.Phi: s.Phi} {
			if column != nil {
				*to = column[0]
			}
		}
		if s.Cov != nil {
			c.Cov = slices.Concat(s.Cov...)
			if s.Samples != nil && s.Samples[0] > 0 {
				c.Samples = int(min(s.Samples[0], 1<<40))
			}
			if s.Skew != nil && !slices.ContainsFunc(s.Skew, math.IsNaN) {
				c.Skew = s.Skew
			}
		}
		if text := swapped(c); text != "" {
			return nil, fmt.Errorf("%s: bin %d: %s: are the columns of tau and g2 swapped?", path, b, text)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no rows below the header: give at least one point", path)
	}
	return out, nil
}

// swapped says how the delays of a curve look like values of g2 and the other way round, or returns "": delays from 0.5 to 3 that do not
// increase, and values of g2 that increase by more than a factor of 10 to above 3, or where delays go up and down.
func swapped(c Curve) string {
	n := len(c.X)
	if n < 5 || slices.Min(c.X) < 0.5 || slices.Max(c.X) > 3 || slices.IsSorted(c.X) || !slices.IsSorted(c.Y) || !(c.Y[0] > 0 && c.Y[n-1] > 10*c.Y[0]) {
		return ""
	}
	if falls := slices.IsSortedFunc(c.X, func(a, b float64) int { return cmp.Compare(b, a) }); falls && c.Y[n-1] <= 3 {
		return ""
	}
	return fmt.Sprintf("the delays lie between %g and %g and do not increase, but g2 does, from %g to %g", slices.Min(c.X), slices.Max(c.X), c.Y[0], c.Y[n-1])
}

func isHDF5(path string) (bool, error) {
	f, err := foreign.Open(path, ".hdf", ".h5", ".hdf5", ".csv", ".txt", ".dat")
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(f, head); err != nil && st.Size() >= 8 {
		return false, err
	}
	known := strings.HasSuffix(path, ".hdf") || strings.HasSuffix(path, ".h5") || strings.HasSuffix(path, ".hdf5")
	return known || bytes.Equal(head, []byte("\x89HDF\r\n\x1a\n")), nil
}

func resultCurves(path string) ([]Curve, error) {
	r, err := nexus.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Multitau == nil {
		return nil, fmt.Errorf("%s has only a two-time correlation: take curves from it with reduce ages, or also correlate its frames by the multi-tau method (--correlation both)", path)
	}
	delays := r.Delays()
	var out []Curve
	wrong := flaws(r)
	at := stepOf(r)
	if a, ok := ageingBesides(r, at, delays); ok {
		wrong = append(wrong, a)
	}
	for b := 1; b <= r.Bins(); b++ {
		y, _ := r.Multitau.Bin(b)
		c := Curve{Bin: b, flaws: wrong, step: at, Q: math.NaN(), Phi: math.NaN(), X: delays, Y: y, Err: r.Multitau.Errors(b)}
		if n := r.PhotonsOf(b); n != nil {
			c.lost, c.blind = n.Lost(), n.Blind()
			c.full[0], c.full[1] = n.Full()
		}
		text, remedy, judged := r.Multitau.FewPhotons(b)
		c.few, c.unjudged = [2]string{text, remedy}, !judged
		c.strays[0], c.strays[1] = nexus.DescribeStrays(nexus.StraysOf(r.Strays, b))
		if m := r.Multitau; m.Cov != nil {
			c.Cov = m.Cov[b-1]
			if m.Skew != nil {
				c.Skew = m.Skew[b-1]
			}
			if m.Pixels != nil {
				c.Samples = m.Pixels[b-1]
			}
		}
		if r.QMap != nil {
			c.Q, c.Phi = r.QMap.Q(b), r.QMap.Phi(b)
			if name, unit := r.QMap.Axis(0); name != "q" {
				c.Axis, c.AxisUnit = name, unit
			} else if s := r.QMap.Spread(b) / c.Q; s > 0 && !math.IsInf(s, 0) {
				c.spread = s
			}
		}
		out = append(out, c)
	}
	return out, nil
}
