// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// Notes returns what a user should know about the correlation, one sentence for each point.
func (d *Done) Notes() []string {
	var lines []string
	if d.Lost != nil {
		lines = append(lines, d.Lost.Error())
	}
	if d.Missing != "" {
		lines = append(lines, d.Missing)
	}
	if d.Misplaced != "" {
		lines = append(lines, d.Misplaced)
	}
	if d.Marked != "" {
		lines = append(lines, d.Marked)
	}
	if n := len(d.Bad); n > 0 && d.Result.QMap.Maps != nil {
		lines = append(lines, fmt.Sprintf("%s in bins of the q map %s no count in most of the frames that were looked at, but NaN or the mark of the detector, and %s left out (%s)", errtext.Count(n, "pixel"), errtext.Agree(n, "has", "have"), errtext.Agree(n, "was", "were"), places(d.Bad, d.Result.QMap.Maps.Width)))
	}
	if n := len(d.Flickering); n > 0 && d.Result.QMap.Maps != nil {
		lines = append(lines, fmt.Sprintf("%s in bins of the q map %s no count in some of the frames, but NaN or the mark of the detector, as a counter that is full now and then has; %s left out, or a quarter of the frames or more would be bad (%s)", errtext.Count(n, "pixel"), errtext.Agree(n, "has", "have"), errtext.Agree(n, "it was", "they were"), places(d.Flickering, d.Result.QMap.Maps.Width)))
	}
	lines = append(lines, d.dim()...)
	if n := len(d.Replaced); n > 0 {
		r := d.Replaced[0]
		line := fmt.Sprintf("frame %d was bad and was replaced: %s", r.Frame, d.why(r))
		if n > 1 {
			line = fmt.Sprintf("%d frames were bad and were replaced, of which frame %d is the first: %s", n, r.Frame, d.why(r))
		}
		if f := float64(n) / float64(max(d.Frames, 1)); f > 0.005 {
			line += fmt.Sprintf("; that makes g2 - 1 too small by about %.2g %%", 200*f)
		}
		if p, often := worstPixel(d.Replaced); often > 1 && d.Result.QMap.Maps != nil {
			w := d.Result.QMap.Maps.Width
			line += fmt.Sprintf("; in %d of them the pixel at row %d, column %d has no count: mask it", often, p/w, p%w)
		}
		if tail := d.tail(runsOf(d.replacedFrames(), 1)); tail != "" {
			line += "; " + tail
		}
		lines = append(lines, line)
	}
	if text, remedy := nexus.DescribeIntensity(d.Result.Trace); text != "" {
		lines = append(lines, text+": "+remedy)
	}
	if d.Area > 1 {
		lines = append(lines, fmt.Sprintf("neighbouring pixels fluctuate together, as in speckles of up to %.1f pixels in area or where the intensity varies within static bins: fits allow for this with the covariance of the points, but the errors of viewers, which treat pixels as independent, are up to %.1f times too small", d.Area, math.Sqrt(d.Area)))
	}
	for _, line := range []string{d.missed(), d.full(), d.noCounts(), d.few(), d.blind(), d.badFrame(), d.stuck(), d.hot(), d.stray()} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	if d.Dark.Static > 0 && d.Empty < d.Frames {
		lines = append(lines, fmt.Sprintf("of the %s of bin %d, %d had no counts in any frame, which makes its g2 too small by %.2g %%: mask their pixels, or make static bins wider", errtext.Count(d.Dark.Of, "static bin"), d.Dark.Bin, d.Dark.Static, 100*float64(d.Dark.Static)/float64(d.Dark.Of)))
	}
	if line := d.empty(); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// dim names the pixels without light.
// toMask says how pixels without counts are masked.
const toMask = "mask them (mask --threshold 1e-9:, then qmap --mask)"

func (d *Done) dim() (lines []string) {
	m := d.Result.QMap.Maps
	if m == nil {
		return nil
	}
	add := func(pixels []int, are, then string) {
		if n := len(pixels); n > 0 {
			lines = append(lines, fmt.Sprintf("%s in bins of the q map %s %s: %s (%s)", errtext.Count(n, "pixel"), errtext.Agree(n, "is", "are"), are, then, places(pixels, m.Width)))
		}
	}
	left := func(pixels []int) string { return errtext.Agree(len(pixels), "it was", "they were") + " left out" }
	add(d.Negative, "below 0 on average, as no count is", left(d.Negative))
	add(d.Dead, "dead, without any count where the pixels around have many", left(d.Dead))
	add(d.Unlit, "dead, without any count where the pixels around have many, and "+errtext.Agree(len(d.Unlit), "lowers", "lower")+" the means of their static bins", toMask)
	add(d.Blank, "without any count in areas among lit pixels, as behind a beam stop and in dead parts of a detector, and "+errtext.Agree(len(d.Blank), "lowers", "lower")+" the means of their static bins", toMask)
	return lines
}

// why says why a frame was replaced, with the first pixel without a count and what was read there.
func (d *Done) why(r correlate.Replacement) string {
	if r.Pixel < 0 || d.Result.QMap.Maps == nil {
		return r.Why
	}
	w := d.Result.QMap.Maps.Width
	is := "is infinite"
	switch x := float64(r.Reading); {
	case math.IsNaN(x) && d.mark > 0:
		is = fmt.Sprintf("has %.0f, the largest number of the type, as a full counter has and as detectors mark bad pixels", d.mark)
	case math.IsNaN(x):
		is = "has NaN or the mark of the detector"
	case !math.IsInf(x, 0):
		is = fmt.Sprintf("has %.6g, more than the 2^53 that counts can be", x)
	}
	return fmt.Sprintf("%s, the first at row %d, column %d, which %s", r.Why, r.Pixel/w, r.Pixel%w, is)
}

// replacedFrames returns the numbers of the frames that were replaced.
func (d *Done) replacedFrames() (frames []int) {
	for _, r := range d.Replaced {
		frames = append(frames, r.Frame)
	}
	return frames
}

// missed says how many counts the detector misses, if any.
func (d *Done) missed() string {
	var worst *nexus.PhotonNoise
	bins := 0
	for i := range d.Result.Photons {
		n := &d.Result.Photons[i]
		if n.Binary() { // which full tells
			continue
		}
		if n.DeadTime > 0 {
			bins++
		}
		if worst == nil || n.Lost() > worst.Lost() {
			worst = n
		}
	}
	if bins == 0 {
		return ""
	}
	lost := 100 * worst.Lost()
	return fmt.Sprintf("the counts of pixels in %d of %s scatter less than those of photons, the less the more counts there are, as those of a detector that misses photons after each one (dead time): about %.2g %% of them at the %.3g counts of a pixel in a frame of bin %d; correlations then decay too fast and have too little contrast: attenuate the beam, or correct the frames. Values that are not numbers of photons look like that, too",
		bins, errtext.Count(len(d.Result.Photons), "bin"), lost, worst.Mean, worst.Bin)
}

// full says where the counter is at its limit.
func (d *Done) full() string {
	var worst *nexus.PhotonNoise
	for i := range d.Result.Photons {
		if n := &d.Result.Photons[i]; n.AtLimit > 0 && (worst == nil || n.AtLimit > worst.AtLimit) {
			worst = n
		}
	}
	if worst == nil {
		return ""
	}
	if text, remedy := worst.Full(); text != "" {
		return text + ": " + remedy
	}
	return fmt.Sprintf("%.2g %% of the readings of bin %d are %.6g, which many pixels have and none exceeds, although some would: the counter is full there (saturation)", 100*worst.AtLimit, worst.Bin, worst.Limit)
}

// noCounts says that readings are no counts of photons, and how that shows.
func (d *Done) noCounts() string {
	const why = ": a gain that is not 1 and rounding, or corrections of the frames, do that. Correlations are those of the readings, but neither their noise nor a dead time can be judged: correlate the frames as they were counted"
	for _, n := range d.Result.Photons {
		switch {
		case n.Gap > 0 && n.GapShare == 0:
			return fmt.Sprintf("the readings are not counts of photons: %g is never read, although %g is many times%s", n.Gap, n.Gap+1, why)
		case n.Gap > 0:
			return fmt.Sprintf("the readings are not counts of photons: %g is read %.2g times as often as the numbers beside it allow%s", n.Gap, n.GapShare, why)
		case n.Factor > 0:
			return fmt.Sprintf("the readings are not counts of photons: in bin %d they scatter as counts times %.2g do%s", n.Bin, n.Factor, why)
		}
	}
	return ""
}

// few says where photons are too few for errors of a normal distribution.
func (d *Done) few() string {
	m := d.Result.Multitau
	if m == nil {
		return ""
	}
	bin, bins := m.FewestPhotons()
	if bins == 0 {
		return ""
	}
	text, remedy, _ := m.FewPhotons(bin)
	if bins > 1 {
		text += fmt.Sprintf("; so it is in %d of %s", bins, errtext.Count(m.G2.Cols, "bin"))
	}
	return text + ": " + remedy
}

// blind says how much counts lower those of the next frames, if they do.
func (d *Done) blind() string {
	var worst *nexus.PhotonNoise
	bins := 0
	for i := range d.Result.Photons {
		n := &d.Result.Photons[i]
		if n.Blind() == 0 {
			continue
		}
		if bins++; worst == nil || n.Blind() > worst.Blind() {
			worst = n
		}
	}
	if bins == 0 {
		return ""
	}
	return fmt.Sprintf("pixels in %d of %s count less in the frame after one with counts: products of the counts of neighbouring frames are %.3g %% below those of independent frames in bin %d (+- %.2g %%), where correlations of intensities cannot be. A detector with a dead time of about a frame or longer does that, or one whose pixels are reset after counts: g2 is too small at short delays: leave those delays out, attenuate the beam, or take longer frames",
		bins, errtext.Count(len(d.Result.Photons), "bin"), 100*worst.Blind(), worst.Bin, 100*worst.AdjacentErr)
}

// flat says that a frame is no light, and what to do.
func (d *Done) flat() (text, remedy string) {
	f := d.Flat
	return fmt.Sprintf("nearly all pixels in bins read %.6g in frame %d, and %.3g on average in the others, which no light does, but a fault of the detector or of the file: g2 is wrong", f.Counts, f.Frame, f.Others),
		fmt.Sprintf("correlate again without this frame (--skip %d)", f.Frame)
}

// badFrame names a frame that is no light.
func (d *Done) badFrame() string {
	if d.Flat == nil {
		return ""
	}
	text, remedy := d.flat()
	return text + ": " + remedy
}

// stuck names the pixels whose numbers do not scatter as those of photons.
func (d *Done) stuck() string {
	n := len(d.Stuck)
	if n == 0 || d.Result.QMap.Maps == nil {
		return ""
	}
	return fmt.Sprintf("the numbers of %s in bins hardly change from frame to frame, far less than those of photons, as those of pixels that are stuck or have a constant background (%s): mask them",
		errtext.Count(n, "pixel"), places(d.Stuck, d.Result.QMap.Maps.Width))
}

// stray names the single readings that move g2.
func (d *Done) stray() string {
	text, remedy := nexus.DescribeStrays(d.Result.Strays)
	if text == "" {
		return ""
	}
	return text + ": " + remedy
}

// hot names the pixels that spoil g2 of their bins.
func (d *Done) hot() string {
	n, h := len(d.Hot.Pixels), d.Hot
	if n == 0 || d.Result.QMap.Maps == nil {
		return ""
	}
	return fmt.Sprintf("%s in bins %s far brighter than the others of the same static bin (%s; the first has %.3g counts in a frame and the others %.3g) and %s g2: that of bin %d would be %.3g if nothing moved: mask such pixels (mask --threshold, then qmap --mask)",
		errtext.Count(n, "pixel"), errtext.Agree(n, "is", "are"), places(h.Pixels, d.Result.QMap.Maps.Width), h.Mean, h.Of, errtext.Agree(n, "dominates", "dominate"), h.Bin, h.Baseline)
}

// places writes where the first few of some pixels are.
func places(pixels []int, width int) string {
	const few = 3
	var list []string
	for _, p := range pixels[:min(few, len(pixels))] {
		list = append(list, fmt.Sprintf("row %d, column %d", p/width, p%width))
	}
	text := strings.Join(list, "; ")
	if len(pixels) > few {
		text += "; ..."
	}
	return text
}

// worstPixel returns the pixel that was the first without a number in most frames, and in how many.
func worstPixel(all []correlate.Replacement) (pixel, often int) {
	count := map[int]int{}
	for _, r := range all {
		if r.Pixel < 0 {
			continue
		}
		if count[r.Pixel]++; count[r.Pixel] > often {
			pixel, often = r.Pixel, count[r.Pixel]
		}
	}
	return pixel, often
}
