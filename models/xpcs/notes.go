// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"

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
	if d.Misplaced != "" {
		lines = append(lines, d.Misplaced)
	}
	if d.Marked != "" {
		lines = append(lines, d.Marked)
	}
	if n := len(d.Replaced); n > 0 {
		r := d.Replaced[0]
		line := fmt.Sprintf("frame %d was bad and was replaced: %s", r.Frame, r.Why)
		if n > 1 {
			line = fmt.Sprintf("%d frames were bad and were replaced, of which frame %d is the first: %s", n, r.Frame, r.Why)
		}
		if f := float64(n) / float64(max(d.Frames, 1)); f > 0.005 {
			line += fmt.Sprintf("; that makes g2 - 1 too small by about %.2g %%", 200*f)
		}
		if p, often := worstPixel(d.Replaced); often > 1 && d.Result.QMap.Maps != nil {
			w := d.Result.QMap.Maps.Width
			line += fmt.Sprintf("; in %d of them the pixel at row %d, column %d is not a number: mask it", often, p/w, p%w)
		}
		lines = append(lines, line)
	}
	if d.Area > 1 {
		lines = append(lines, fmt.Sprintf("neighbouring pixels fluctuate together, as in speckles of up to %.1f pixels in area or where the intensity varies within static bins: fits allow for this with the covariance of the points, but the errors of viewers, which treat pixels as independent, are up to %.1f times too small", d.Area, math.Sqrt(d.Area)))
	}
	if line := d.missed(); line != "" {
		lines = append(lines, line)
	}
	if d.Dark.Static > 0 && d.Empty < d.Frames {
		lines = append(lines, fmt.Sprintf("of the %s of bin %d, %d had no counts in any frame, which makes its g2 too small by %.2g %%: mask their pixels, or make static bins wider", errtext.Count(d.Dark.Of, "static bin"), d.Dark.Bin, d.Dark.Static, 100*float64(d.Dark.Static)/float64(d.Dark.Of)))
	}
	if d.Empty > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s %s no counts in any bin", d.Empty, errtext.Count(d.Frames, "frame"), errtext.Agree(d.Empty, "has", "have")))
	}
	return lines
}

// missed says how many counts the detector misses, if any.
func (d *Done) missed() string {
	var worst *nexus.PhotonNoise
	bins := 0
	for i := range d.Result.Photons {
		n := &d.Result.Photons[i]
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
