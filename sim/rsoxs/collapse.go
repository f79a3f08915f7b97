// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

// mean sets the fields of p to their mean over all slices. It is a running mean, which equal slices
// leave exactly unchanged.
func (s *spectra[T]) mean(w *scratch[T], p part[T], count int) {
	for k := range count {
		clear(w.room(&w.mean[k], w.n))
	}
	for z := range s.depth {
		empty := p.fill(w, z)
		for k := range count {
			if empty {
				clear(w.fields[k])
			}
			addMean(w.mean[k], w.fields[k], T(z+1))
		}
	}
	for k := range count {
		copy(w.fields[k], w.mean[k])
	}
}

// addMean computes the mean of n slices from that of n-1 slices and the last slice.
func addMean[T float](mean, last []T, n T) {
	for i, v := range last {
		mean[i] += (v - mean[i]) / n
	}
}

// scatterMean is the transpose of mean.
func (s *spectra[T]) scatterMean(w *scratch[T], p part[T], count int) {
	for k := range count {
		for i := range w.fields[k] {
			w.fields[k][i] /= T(s.depth)
		}
	}
	for z := range s.depth {
		p.back(w, z)
	}
}
