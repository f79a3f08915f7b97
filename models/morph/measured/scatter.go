// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
)

// How counts scatter about their neighbours tells what they are, whatever a smooth model lacks: the variance of counts is their mean, that of
// counts times a gain a multiple of it, that of counts with a pedestal the mean less the pedestal, that of counts from which dark counts were
// subtracted the mean and what was subtracted, and that of speckle has a term in the square of the mean.

// law is a way in which the variance of a number follows from its mean and one unknown number.
type law struct {
	variance func(mean, x float64) float64
	low, up  float64 // range of the unknown number
	tell     func(t *Task, x float64, frames []*plane) *defect
}

var laws = []law{
	{variance: func(m, x float64) float64 { return x * m }, low: 1e-3, up: 1e6, tell: (*Task).gain},
	{variance: func(m, x float64) float64 { return m + m*m/x }, low: 1e-2, up: 1e4, tell: (*Task).speckle},
	{variance: func(m, x float64) float64 { return max(m-x, 1e-2*m) }, low: 1, up: 1e6, tell: (*Task).pedestal},
	{variance: func(m, x float64) float64 { return m + x }, low: 1, up: 1e6, tell: (*Task).subtracted},
}

const (
	// leastMean is the smallest mean of counts whose scatter is judged: their squares scatter little more than those of normal numbers.
	leastMean = 3.0
	// leastDifferences is the smallest number of pixels with neighbours that are judged.
	leastDifferences = 100
	// sureScatter is by how much twice the log likelihood of the differences must rise for a law to be named, and muchScatter the change of
	// the typical standard deviation from which on it matters.
	sureScatter, muchScatter = 30.0, 0.1
	// between neighbours the differences of independent numbers correlate by -0.4; those of a misfit, which is smooth over a few
	// pixels, by more.
	ofIndependent, tolerated = -0.4, 0.15
)

// difference is the residual of a pixel less the mean residual of the four beside it, with the means of all five as the counts around say
// them: a model that misses a background has means of its own, by which right counts would scatter too much.
type difference struct {
	d     float64
	means [5]float64
}

// differences returns those of all pixels that expect enough counts, and pairs of them that lie side by side. Single ones that are far larger
// than those of pixels of about the same expectation tell of these pixels and not of the scatter.
func differences(frames []*plane) (all []difference, pairs [][2]int) {
	usual, counts := typicalOf(frames), law{variance: func(m, _ float64) float64 { return m }}
	for _, q := range frames {
		at := make([]int, len(q.counts))
		for i, c := range q.counts {
			at[i] = -1
			y, x := i/q.columns, i%q.columns
			if y == 0 || x == 0 || y == q.rows-1 || x == q.columns-1 || !(q.mean[i] >= leastMean) {
				continue
			}
			off := q.overAround(y, x)
			one := difference{d: c - q.mean[i], means: [5]float64{off * q.mean[i]}}
			for k, n := range [4]int{i - 1, i + 1, i - q.columns, i + q.columns} {
				one.d -= (q.counts[n] - q.mean[n]) / 4
				one.means[k+1] = off * q.mean[n]
			}
			if far := farFromAll * usual.at(q.mean[i]); math.IsNaN(one.d) || one.d*one.d > far*far*one.variance(&counts, 0) {
				continue
			}
			at[i] = len(all)
			all = append(all, one)
			for _, n := range [2]int{i - 1, i - q.columns} {
				if at[n] >= 0 {
					pairs = append(pairs, [2]int{at[n], at[i]})
				}
			}
		}
	}
	return all, pairs
}

// overAround is the ratio of the counts to their expectations in the pixels within two rows and columns.
func (q *plane) overAround(y, x int) float64 {
	counts, means := 0.0, 0.0
	for v := max(0, y-2); v <= min(q.rows-1, y+2); v++ {
		for u := max(0, x-2); u <= min(q.columns-1, x+2); u++ {
			if c := q.counts[v*q.columns+u]; !math.IsNaN(c) {
				counts, means = counts+c, means+q.mean[v*q.columns+u]
			}
		}
	}
	return max(counts, 1) / max(means, leastCounts)
}

// variance is that of a difference by a law.
func (d *difference) variance(l *law, x float64) float64 {
	sum := l.variance(d.means[0], x)
	for _, m := range d.means[1:] {
		sum += l.variance(m, x) / 16
	}
	return sum
}

// fits returns twice the log likelihood of the differences by a law, up to a constant.
func (l *law) fits(all []difference, x float64) (sum float64) {
	for i := range all {
		v := all[i].variance(l, x)
		sum -= math.Log(v) + all[i].d*all[i].d/v
	}
	return sum
}

// farFromLaw is the mean squared residual, in units of the variance by a law, above which something else than the scatter is to be found first.
const farFromLaw = 3.0

// leaves returns the mean squared residual of the counts that are judged, in units of their variance by a law.
func (l *law) leaves(frames []*plane, x float64) float64 {
	sum, n := 0.0, 0.0
	for _, q := range frames {
		for i, m := range q.mean {
			if m >= leastMean {
				sum, n = sum+(q.counts[i]-m)*(q.counts[i]-m)/l.variance(m, x), n+1
			}
		}
	}
	return sum / n
}

// scatters finds counts whose scatter is not that of counts; nil if it is, or if it cannot be told from what the model lacks.
func (t *Task) scatters(frames []*plane) *defect {
	all, pairs := differences(frames)
	if len(all) < leastDifferences {
		return nil
	}
	usual := law{variance: func(m, _ float64) float64 { return m }}
	base := usual.fits(all, 0)
	var best *law
	at, most := 0.0, base+sureScatter
	for i := range laws {
		l := &laws[i]
		x := highest(func(x float64) float64 {
			if x < l.low || x > l.up {
				return math.Inf(-1)
			}
			return l.fits(all, x)
		}, math.Sqrt(l.low*min(l.up, 100)))
		if fits := l.fits(all, x); fits > most {
			best, at, most = l, x, fits
		}
	}
	if best == nil {
		return nil
	}
	sd, product, size := make([]float64, len(all)), 0.0, 0.0
	for i := range all {
		sd[i] = all[i].d / math.Sqrt(all[i].variance(best, at))
		size += sd[i] * sd[i] / float64(len(all))
	}
	for _, p := range pairs {
		product += sd[p[0]] * sd[p[1]] / float64(len(pairs))
	}
	change := 0.0 // of the logarithm of the standard deviation
	for i := range all {
		change += math.Log(all[i].variance(best, at)/all[i].variance(&usual, 0)) / 2 / float64(len(all))
	}
	misfit := change > 0 && best.leaves(frames, at) > farFromLaw // what a model lacks makes no scatter smaller
	if len(pairs) == 0 || product/size > ofIndependent+tolerated || math.Abs(change) < muchScatter || misfit {
		return nil
	}
	return best.tell(t, at, frames)
}

// withNoise returns the task with another noise of its counts, whose scale is searched for from a start.
func (t *Task) withNoise(name string, start float64) *Task {
	k, _ := t.altered(func(f *Frame) bool {
		if f.Noise == "" || f.Noise == "poisson" {
			f.Noise = name
		}
		return true
	})
	for _, m := range k.models() {
		if scale := noises[name].scale + m.Suffix; !slices.Contains(k.Names(), scale) {
			k.Params = append(k.Params, Param{Name: scale, Start: start})
		}
	}
	return k
}

// withThatScatter begins what is found once counts scatter as they do.
const withThatScatter = "with that scatter, "

// gain tells of counts that are a multiple of counts, or scatter as such.
func (t *Task) gain(x float64, frames []*plane) *defect {
	d := &defect{mended: t.withNoise("quasi", math.Sqrt(x)), then: withThatScatter, flag: check.Flag{Kind: kindScatter}}
	switch step := commonStep(frames); {
	case step > 1:
		d.flag.Text = fmt.Sprintf("the numbers are multiples of %d, and no counts: their variance is %.3g times their mean, as that of counts times a gain is", step, x)
		d.flag.Remedy = fmt.Sprintf(`give counts, which are the numbers divided by %d, or "loss": "quasi", which finds the errors from the residuals`, step)
	case x > 1:
		d.flag.Text = fmt.Sprintf("the counts scatter from pixel to pixel more than photons do: their variance is %.3g times their mean at all intensities, as that of numbers is that a detector multiplies by a gain", x)
		d.flag.Remedy = `divide the numbers by the gain of the detector, or give "loss": "quasi", which finds the errors from the residuals`
	default:
		d.flag.Kind = "underdispersion"
		d.flag.Text = fmt.Sprintf("the counts scatter from pixel to pixel less than photons do: their variance is %.3g times their mean at all intensities, as that of numbers is that are averaged, smoothed or divided", x)
		d.flag.Remedy = `give the raw counts, or "loss": "quasi", which finds the errors from the residuals`
	}
	return d
}

// commonStep is the greatest common divisor of the counts.
func commonStep(frames []*plane) int {
	step := 0
	for _, q := range frames {
		for _, c := range q.counts {
			if math.IsNaN(c) {
				continue
			}
			for a, b := step, int(min(c, 1<<52)); ; a, b = b, a%b {
				if b == 0 {
					step = a
					break
				}
			}
			if step == 1 {
				return 1
			}
		}
	}
	return step
}

// speckle tells of counts whose scatter grows with the square of the intensity.
func (t *Task) speckle(x float64, _ []*plane) *defect {
	return &defect{mended: t.withNoise("negative_binomial", x), then: withThatScatter, flag: check.Flag{Kind: kindScatter,
		Text:   fmt.Sprintf("the counts scatter from pixel to pixel more than photons do, the more the brighter: by about %.2g %% of the intensity beside counting, as speckle of %.3g modes or pixels of unequal sensitivity do", 100/math.Sqrt(x), x),
		Remedy: `give "loss": "negative_binomial" and add "modes": {} to the parameters, or correct the images by a flat field`}}
}

// pedestal tells of counts with a constant that does not scatter.
func (t *Task) pedestal(x float64, _ []*plane) *defect {
	x = math.Round(x)
	k, _ := t.altered(func(f *Frame) bool {
		if f.Bins == nil && (f.Noise == "" || f.Noise == "poisson") {
			f.Counts = slices.Clone(f.Counts)
			for i := range f.Counts {
				f.Counts[i] = max(0, f.Counts[i]-x)
			}
		}
		return true
	})
	return &defect{mended: k, then: "without it, ", flag: check.Flag{Kind: kindOffset,
		Text:   fmt.Sprintf("a pedestal of about %.0f counts is in every pixel: the counts scatter as their excess above it does", x),
		Remedy: fmt.Sprintf(`give "pedestal": %.0f, or the number that the detector adds, which is subtracted from each pixel`, x)}}
}

// subtracted tells of counts from which others were subtracted.
func (t *Task) subtracted(x float64, _ []*plane) *defect {
	x = math.Round(x)
	k, _ := t.altered(func(f *Frame) bool {
		if f.Bins == nil && (f.Noise == "" || f.Noise == "poisson") {
			f.Offsets = slices.Clone(f.Offsets)
			if f.Offsets == nil {
				f.Offsets = make([]float64, len(f.Counts))
			}
			for i := range f.Offsets {
				f.Offsets[i] += x
			}
		}
		return true
	})
	return &defect{mended: k, then: "with them, ", flag: check.Flag{Kind: "subtracted counts",
		Text:   fmt.Sprintf("about %.0f counts, such as dark counts, were subtracted from each pixel: the counts scatter as if they were still there", x),
		Remedy: fmt.Sprintf(`give the raw counts, or "pedestal": %.0f if that constant was subtracted`, -x)}}
}
