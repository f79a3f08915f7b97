// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import "regexp"

// captions say what a reader can see in the pictures of pages, by the names under which albums keep them. Pictures whose notes say it already
// have none.
var captions = map[string]string{
	"residuals":       "Where the model holds, points scatter about 0 without a pattern, and 95 % of them lie within the band.",
	"fit":             "Points have bars of one standard deviation; the line is the model at the best fit.",
	"fits":            "Points have bars of one standard deviation; the lines are the model at the best fit of each bin.",
	"posterior_curve": "The line is the median of the posterior of the curve, and the band holds 95 % of it: it is narrower than the scatter of the points, since it is about the curve and not about new data.",
	"trace":           "Chains that explore the same posterior overlap and do not drift. At the right is the density of each chain.",
	"against_q":       "Each point is the fit of one bin, with a bar of one standard deviation.",
	"parameters":      "Each point is the value at the best fit, with a bar of one standard deviation.",
	"g2":              "Curves fall from 1 plus the contrast to the baseline as the sample changes; bars are standard errors.",
	"saxs":            "The mean over all azimuths, and each azimuth or part of the measurement where there are several: lines that part tell of anisotropy, or of a sample that changes.",
	"intensity":       "Steps, drifts and oscillations of the beam or of the sample show here, and they move g2 as well.",
	"image":           "Shadows, gaps and bright pixels that the mask should leave out show here.",
	"twotime":         "Each point compares the sample at two times; the diagonal is where they are equal. A ridge of constant width means that the dynamics do not change with age.",
	"ages":            "Curves of several ages that fall together mean that the dynamics do not change with age.",
	"patterns":        "Residuals without a pattern mean that the model explains the scattering.",
}

// numbered is the number at the end of the name of a picture.
var numbered = regexp.MustCompile(`-[0-9]+$`)
