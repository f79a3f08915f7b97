// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// PhotonNoise says how much the counts of the pixels of a dynamic bin scatter from one frame to the next, over what photons of
// Poisson's distribution would. Euryale writes it in addition to what viewers read.
type PhotonNoise struct {
	Bin  int     // number of the bin, from 1
	Mean float64 // mean counts of a pixel in a frame

	Ratio, RatioErr float64 // noise over Poisson's, and its standard error; NaN if unknown
	DeadTime        float64 // dead time of the detector in exposure times of a frame; 0 if it is not visible

	// Adjacent is the products of the counts of a pixel in neighbouring frames over those in frames at any distance, with its standard error; NaN if
	// unknown.
	Adjacent, AdjacentErr float64

	// Limit is the largest reading if it is the limit of the counter, and AtLimit the share of the readings of the bin that have it; both are 0 otherwise.
	Limit, AtLimit float64
	// Gap is a number that was read too seldom, or never, or too often for counts of photons, and GapShare how often over what the numbers beside it
	// allow; both are 0 if readings may be counts.
	Gap, GapShare float64
	Factor        float64 // factor below 1 by which counts seem to be multiplied; 0 if none is visible

	// Counts, ByCounts and ByCountsErr are the noise over Poisson's, with standard errors, of pixels with a number of counts in a frame.
	Counts, ByCounts, ByCountsErr []float64
}

// Lost returns the share of the photons that the detector misses at the mean counts.
func (n *PhotonNoise) Lost() float64 { return min(n.DeadTime*n.Mean, 0.99) }

// blindErrors and leastBlind are the number of standard errors and the share by which the products of counts in neighbouring frames have to be
// low: correlations of intensities are not below those of independent frames.
const (
	blindErrors = 5
	leastBlind  = 0.02
)

// Blind returns by which share the counts of a pixel correlate less from frame to frame than independent ones, as where a detector is blind after a
// count for longer than a frame; 0 unless it is beyond chance.
func (n *PhotonNoise) Blind() float64 {
	if short := 1 - n.Adjacent; short > leastBlind && short > blindErrors*n.AdjacentErr {
		return min(short, 1)
	}
	return 0
}

// Binary reports whether only 0 and 1 were read where photons would have given more.
func (n *PhotonNoise) Binary() bool { return n.Limit == 1 && n.DeadTime > 0 }

// Unseen returns the share of photons of a constant intensity that a counter of one bit does not count: m is 1 - exp(-x) at x photons, of which it misses x - m.
func (n *PhotonNoise) Unseen() float64 { return 1 + n.Mean/math.Log1p(-min(n.Mean, 1-1e-9)) }

// leastFull is the share of the readings of a bin at the limit of the counter from which fits tell it.
const leastFull = 0.01

// Full says that the counter is at its limit in a share of the readings, and what to do; "" if it is in few or none.
func (n *PhotonNoise) Full() (text, remedy string) {
	if n.AtLimit < leastFull && !n.Binary() {
		return "", ""
	}
	if n.Binary() {
		return fmt.Sprintf("only 0 and 1 are read in bin %d, although some pixels would have counted twice: a counter of one bit, which misses %.3g %% of the photons at the mean of %.3g counts (without speckles), cannot be told from a dead time, which misses about %.3g %%; both take contrast from correlations", n.Bin, 100*n.Unseen(), n.Mean, 100*n.Lost()),
			"attenuate the beam, take shorter frames, or correlate the frames as they were counted"
	}
	return fmt.Sprintf("%.3g %% of the readings of bin %d are %.6g, which many pixels have and none exceeds, although some would, so the counter is full there (saturation): intensities above are cut off, which changes correlations and takes contrast from them", 100*n.AtLimit, n.Bin, n.Limit),
		"attenuate the beam, or take shorter frames"
}

// keyPhotons is the group of the noise of photons: one-dimensional datasets by bin, and (bin, number of counts) with NaN at the end.
const keyPhotons = "/xpcs/photon_noise"

// photons writes the noise of the bins.
func (s saver) photons(all []PhotonNoise) {
	if len(all) == 0 {
		return
	}
	most := 0
	for _, n := range all {
		most = max(most, len(n.Counts))
	}
	bins := make([]int32, len(all))
	columns := make([][]float64, 11)
	tables := make([]*Matrix, 3)
	for k := range tables {
		tables[k] = NewMatrix(len(all), most)
	}
	for i, n := range all {
		bins[i] = int32(n.Bin)
		for k, v := range []float64{n.Mean, n.Ratio, n.RatioErr, n.DeadTime, n.Adjacent, n.AdjacentErr, n.Limit, n.AtLimit, n.Gap, n.GapShare, n.Factor} {
			columns[k] = append(columns[k], v)
		}
		for k, v := range [][]float64{n.Counts, n.ByCounts, n.ByCountsErr} {
			row := tables[k].Row(i)
			for j := copy(row, v); j < most; j++ {
				row[j] = math.NaN()
			}
		}
	}
	s.Write(keyPhotons+"/bins", bins, hdf5.Layout{})
	for k, name := range []string{"mean_counts", "ratio", "ratio_err", "dead_time", "adjacent", "adjacent_err", "limit", "at_limit", "gap", "gap_share", "factor"} {
		s.floats(key{keyPhotons + "/" + name}, columns[k])
	}
	s.Attr(keyPhotons+"/dead_time", "units", "exposure times of a frame")
	for k, name := range []string{"counts", "ratio_by_counts", "ratio_by_counts_err"} {
		if most > 0 {
			s.matrix(key{keyPhotons + "/" + name}, tables[k])
		}
	}
}

// photons reads the noise of the bins, nil if the file has none.
func (l *loader) photons() (all []PhotonNoise) {
	bins := l.ints(key{keyPhotons + "/bins"})
	if bins == nil {
		return nil
	}
	column := func(name string, needed bool) []float64 {
		v := l.floats(key{keyPhotons + "/" + name}, needed)
		if v == nil && !needed { // of an earlier version
			v = slices.Repeat([]float64{math.NaN()}, len(bins))
		}
		if l.err == nil && len(v) != len(bins) {
			l.fail("%s/%s has %s for %s: want one for each", keyPhotons, name, errtext.Count(len(v), "number"), errtext.Count(len(bins), "bin"))
		}
		return v
	}
	mean, ratio, err, dead := column("mean_counts", true), column("ratio", true), column("ratio_err", true), column("dead_time", true)
	adjacent, adjacentErr := column("adjacent", false), column("adjacent_err", false)
	var found [5][]float64 // which files of earlier versions do not have
	for k, name := range []string{"limit", "at_limit", "gap", "gap_share", "factor"} {
		found[k] = column(name, false)
		for i, v := range found[k] {
			if math.IsNaN(v) {
				found[k][i] = 0
			}
		}
	}
	tables := make([]*Matrix, 3)
	for k, name := range []string{"counts", "ratio_by_counts", "ratio_by_counts_err"} {
		if tables[k] = l.matrix(key{keyPhotons + "/" + name}, false); tables[k] == nil {
			tables[k] = NewMatrix(len(bins), 0)
		}
		if m := tables[k]; l.err == nil && (m.Rows != len(bins) || m.Cols != tables[0].Cols) {
			l.fail("%s/%s has the shape %s: want (%d bins, %d)", keyPhotons, name, m.shape(), len(bins), tables[0].Cols)
		}
	}
	if l.err != nil {
		return nil
	}
	for i, b := range bins {
		if !(dead[i] >= 0) || !(mean[i] >= 0) {
			l.fail("%s says that bin %d has a dead time of %g exposures at a mean of %g counts: want numbers of at least 0", keyPhotons, b, dead[i], mean[i])
			return nil
		}
		n := PhotonNoise{Bin: b, Mean: mean[i], Ratio: ratio[i], RatioErr: err[i], DeadTime: dead[i], Adjacent: adjacent[i], AdjacentErr: adjacentErr[i], Limit: found[0][i], AtLimit: found[1][i], Gap: found[2][i], GapShare: found[3][i], Factor: found[4][i]}
		for j, x := range tables[0].Row(i) {
			if !math.IsNaN(x) {
				n.Counts, n.ByCounts, n.ByCountsErr = append(n.Counts, x), append(n.ByCounts, tables[1].At(i, j)), append(n.ByCountsErr, tables[2].At(i, j))
			}
		}
		all = append(all, n)
	}
	return all
}

// PhotonsOf returns the noise of the photons of a dynamic bin, nil if the file does not know it.
func (r *Result) PhotonsOf(bin int) *PhotonNoise {
	for i := range r.Photons {
		if r.Photons[i].Bin == bin {
			return &r.Photons[i]
		}
	}
	return nil
}

// OpenPhotons reads the noise of photons of a result file alone, nil if the file does not know it.
func OpenPhotons(name string) ([]PhotonNoise, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &loader{file: f}
	all := l.photons()
	return all, l.err
}
