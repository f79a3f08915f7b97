// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data"
)

// Table holds g2 against delay for one or more bins.
type Table struct {
	Bin []int     // bin of each row, from 1; nil if the file has no such column and all rows belong to bin 1
	Tau []float64 // delay of each row in s
	G2  []float64
	Err []float64 // standard error of each row; nil if unknown

	// Age is the age of the sample in s, Q the momentum transfer in 1/angstrom and Phi the azimuth in degrees of each row, whose rows of one
	// bin have the same; nil if unknown.
	Age, Q, Phi []float64

	// Cov is the covariance of each row with the rows of its bin, in their order, because the errors of
	// different points are not independent. It is nil if unknown, and so are the rows of a bin whose
	// covariance is unknown. Samples is the number of samples, such as pixels, from which it was
	// estimated. Skew is added to G2 to correct for the skewness of the samples; nil if unknown.
	Cov     [][]float64
	Samples []float64
	Skew    []float64

	// Decimal reports whether numbers were read with decimal commas.
	Decimal bool
	// Seconds reports whether delays were taken to be in seconds because their column has no unit.
	Seconds bool
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.Tau) }

// Bins lists the bins, ascending.
func (t *Table) Bins() []int {
	if t.Bin == nil {
		if t.Len() == 0 {
			return nil
		}
		return []int{1}
	}
	all := slices.Clone(t.Bin)
	slices.Sort(all)
	return slices.Compact(all)
}

// Select returns the rows of one bin, in their order.
func (t *Table) Select(bin int) *Table {
	s := &Table{}
	for i := range t.Tau {
		if t.Bin != nil && t.Bin[i] != bin || t.Bin == nil && bin != 1 {
			continue
		}
		s.Tau, s.G2 = append(s.Tau, t.Tau[i]), append(s.G2, t.G2[i])
		if t.Err != nil {
			s.Err = append(s.Err, t.Err[i])
		}
		if t.Bin != nil {
			s.Bin = append(s.Bin, bin)
		}
		for from, to := range t.places(s) {
			if *from != nil {
				*to = append(*to, (*from)[i])
			}
		}
		if t.Cov != nil && t.Cov[i] != nil {
			s.Cov = append(s.Cov, t.Cov[i])
		}
		if t.Samples != nil {
			s.Samples = append(s.Samples, t.Samples[i])
		}
		if t.Skew != nil {
			s.Skew = append(s.Skew, t.Skew[i])
		}
	}
	return s
}

// places pairs the columns that say where the bins of a table lie with those of another.
func (t *Table) places(other *Table) iter.Seq2[*[]float64, *[]float64] {
	return func(yield func(a, b *[]float64) bool) {
		_ = yield(&t.Age, &other.Age) && yield(&t.Q, &other.Q) && yield(&t.Phi, &other.Phi)
	}
}

// check returns an error if columns have different lengths, or covariances do not belong to the rows.
func (t *Table) check() error {
	n := t.Len()
	if len(t.G2) != n || t.Err != nil && len(t.Err) != n || t.Bin != nil && len(t.Bin) != n {
		return fmt.Errorf("csv: the columns differ in length: tau has %d rows, g2 %d, g2_err %d and bin %d: want equal lengths", n, len(t.G2), len(t.Err), len(t.Bin))
	}
	if t.Cov != nil && len(t.Cov) != n || t.Samples != nil && len(t.Samples) != n || t.Skew != nil && len(t.Skew) != n {
		return fmt.Errorf("csv: the columns differ in length: tau has %d rows, cov %d, samples %d and skew %d: want equal lengths", n, len(t.Cov), len(t.Samples), len(t.Skew))
	}
	if t.Age != nil && len(t.Age) != n || t.Q != nil && len(t.Q) != n || t.Phi != nil && len(t.Phi) != n {
		return fmt.Errorf("csv: the columns differ in length: tau has %d rows, age %d, q %d and phi %d: want equal lengths", n, len(t.Age), len(t.Q), len(t.Phi))
	}
	if _, what := t.misfit(); what != "" {
		return fmt.Errorf("csv: %s", what)
	}
	return nil
}

// misfit returns a row whose covariances are not those of its bin, and what is wrong with them.
func (t *Table) misfit() (row int, what string) {
	if t.Cov == nil {
		return 0, ""
	}
	rows := map[int][]int{}
	for i := range t.Cov {
		bin := 1
		if t.Bin != nil {
			bin = t.Bin[i]
		}
		rows[bin] = append(rows[bin], i)
	}
	for bin, of := range rows {
		for a, i := range of {
			if (t.Cov[i] == nil) != (t.Cov[of[0]] == nil) || t.Cov[i] != nil && len(t.Cov[i]) != len(of) {
				return i, fmt.Sprintf("this row of bin %d has covariances with %d rows, and the bin has %d", bin, len(t.Cov[i]), len(of))
			}
			for b := range min(a, len(t.Cov[i])) {
				u, v := t.Cov[i][b], t.Cov[of[b]][a]
				if size := math.Sqrt(t.Cov[i][a] * t.Cov[of[b]][b]); !(math.Abs(u-v) <= 1e-6*size) {
					return i, fmt.Sprintf("the covariance of rows %d and %d of bin %d is %.6g here and %.6g there", b+1, a+1, bin, v, u)
				}
			}
			if a < len(t.Cov[i]) && !(t.Cov[i][a] >= 0 && t.Cov[i][a] < math.Inf(1)) {
				return i, fmt.Sprintf("the variance of row %d of bin %d is %g", a+1, bin, t.Cov[i][a])
			}
		}
	}
	return 0, ""
}

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError
