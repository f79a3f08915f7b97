// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/infer/check"
)

// A sample that ages while it is measured has a g2 that looks like a second or a stretched decay. Where a result file has g2 of its
// first frames too, the two can be told apart: if the sample is stationary, the first frames decay like all. The errors of g2 do
// not contain what happens by chance in time, so the scatter between bins, whose speckles are different ones, judges the shift.
const (
	// KindAgeing is the kind of flag that says that a sample ages.
	KindAgeing = "ageing"
	// agedLevel is the probability that a stationary movie is called ageing.
	agedLevel = 1e-3
	// agedChange is the smallest change of ln tau that is told.
	agedChange = 0.05
	// agedBins is the smallest number of bins that can tell.
	agedBins = 4
	// agedReach is the part of the first frames up to which delays are compared, and beyond which relaxation times are not.
	agedReach = 1.0 / 8
)

// ageing compares g2 of the first frames of a movie with that of all, over all bins, along the change that another relaxation time
// would make, beside one of the baseline; longest is the longest delay that all frames have:
//
//	g2(first) - g2(all) = shift t + offset,  t = -dg2/d(ln delay)
//
// The mean of the shifts, weighted by how much a bin can tell, is compared with their scatter by Student's t distribution.
func ageing(m *nexus.Multitau, delays []float64, longest float64) (check.Alteration, bool) {
	share, part := firstHalf(m)
	if part < 0 {
		return check.Alteration{}, false
	}
	reach := agedReach * m.PartialFrames[part] / m.PartialFrames[len(m.Partial)-1] * longest
	sum, weights, squares, bins := 0.0, 0.0, 0.0, 0
	var shifts, sizes []float64
	for b := range m.G2.Cols {
		if s, w, ok := shift(m.Partial[part].Column(b), m.G2.Column(b), delays, reach); ok {
			shifts, sizes = append(shifts, s), append(sizes, w)
			sum, weights, squares, bins = sum+w*s, weights+w, squares+w*w, bins+1
		}
	}
	dof := weights*weights/squares - 1
	if bins < agedBins || !(dof >= agedBins-1) {
		return check.Alteration{}, false
	}
	mean, scatter := sum/weights, 0.0
	for i, s := range shifts {
		scatter += sizes[i] * sizes[i] * (s - mean) * (s - mean)
	}
	sd := math.Sqrt(scatter*(dof+1)/dof) / weights
	t := mean / sd
	change := -mean / (1 - share) // of ln tau from the first frames to the others
	if p := mathext.RegIncBeta(dof/2, 0.5, dof/(dof+t*t)); !(p < agedLevel) || math.Abs(change) < agedChange {
		return check.Alteration{}, false
	}
	how := "slower"
	if change < 0 {
		how = "faster"
	}
	return check.Alteration{Kind: KindAgeing, Count: 1, Text: fmt.Sprintf("the sample becomes %s while it is measured, by a factor of about %.2g of its relaxation times after the first %.0f %% of the frames (%.1f standard deviations, from %d bins)",
		how, math.Exp(change), 100*share, math.Abs(t), bins), Remedy: "reduce ages, which gives g2 at several ages, or fit twotime"}, true
}

// firstHalf returns the part that is nearest to the first half of the frames, and its share of them; -1 if there is none.
func firstHalf(m *nexus.Multitau) (share float64, part int) {
	part = -1
	last := len(m.Partial) - 1
	if last < 1 || len(m.PartialFrames) != last+1 {
		return 0, -1
	}
	for k := range last {
		if s := m.PartialFrames[k] / m.PartialFrames[last]; s > 0 && s < 1 && (part < 0 || math.Abs(s-0.5) < math.Abs(share-0.5)) {
			share, part = s, k
		}
	}
	return share, part
}

// shift fits what g2 of the first frames has more than that of all, and returns the shift of ln tau and the sum of the squares of
// its column. It returns false if the decay is not over within reach, or too small to have a slope.
func shift(first, all, delays []float64, reach float64) (shift, size float64, ok bool) {
	var d, t []float64
	for i := 1; i+1 < len(all) && delays[i] <= reach; i++ {
		slope := -(all[i+1] - all[i-1]) / math.Log(delays[i+1]/delays[i-1])
		if v := slope + first[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			d, t = append(d, first[i]-all[i]), append(t, slope)
		}
	}
	if len(d) < 4 {
		return 0, 0, false
	}
	top, total := 0, 0.0
	for i, v := range t {
		if total += v; v > t[top] {
			top = i
		}
	}
	if !(t[len(t)-1] < t[top]/3) || total <= 0 {
		return 0, 0, false // still decaying where the comparison ends
	}
	meanD, meanT := 0.0, 0.0
	for i := range d {
		meanD, meanT = meanD+d[i]/float64(len(d)), meanT+t[i]/float64(len(t))
	}
	along := 0.0
	for i := range d {
		along, size = along+(d[i]-meanD)*(t[i]-meanT), size+(t[i]-meanT)*(t[i]-meanT)
	}
	return along / size, size, size > 0
}
