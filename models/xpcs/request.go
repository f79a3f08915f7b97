// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// Request is what a user sets of a correlation of frames: by flags of correlate or by keys of work lists. Each setting is declared here
// only.
type Request struct {
	Correlation string  `yaml:"correlation" json:"correlation" default:"multitau" choices:"multitau,twotime,both" about:"kind of correlation"`
	Begin       int     `yaml:"begin" json:"begin" low:"0" about:"first frame to use, counted from 0"`
	End         int     `yaml:"end" json:"end" zero:"all" about:"frame after the last one to use; negative numbers count from the end"`
	Stride      int     `yaml:"stride" json:"stride" default:"1" low:"1" about:"use every n-th frame"`
	Average     int     `yaml:"average_frames" json:"average" name:"average-frames" default:"1" low:"1" about:"number of frames to average into one"`
	Smooth      string  `yaml:"smooth" json:"smooth,omitempty" default:"static" choices:"static,dynamic" about:"bins over which frames are averaged to normalise the two-time correlation"`
	Parts       int     `yaml:"parts" json:"parts" low:"0" about:"also compute g2 of the first part of the frames, for this many parts, to show whether g2 is stable"`
	SavePixels  bool    `yaml:"save_pixels" json:"save_pixels" about:"also keep the correlation of every pixel, so that it can be regrouped with other q maps"`
	NoNormalize bool    `yaml:"no_normalize" json:"no_normalize" about:"do not divide each frame by its mean over the bins"`
	NoAgeErrors bool    `yaml:"no_age_errors" json:"no_age_errors,omitempty" about:"do not store what reduce ages needs for its errors, about 1 MB per bin of a two-time correlation"`
	Low         float64 `yaml:"low" json:"low" about:"smallest mean intensity of a good frame, in counts per pixel"`
	High        float64 `yaml:"high" json:"high" zero:"no limit" about:"largest mean intensity of a good frame, in counts per pixel"`
}

// Check sets what is zero to its default. Its error is of type *setting.Error.
func (r *Request) Check() error { return setting.Complete(r) }

// Job returns what is asked for, for frames and a map that are still to be given.
func (r *Request) Job() Job {
	return Job{Multitau: r.Correlation != "twotime", Twotime: r.Correlation != "multitau", Pixels: r.SavePixels, NoAgeErrors: r.NoAgeErrors, Gate: correlate.Gate{Low: r.Low, High: r.High},
		Settings: correlate.Settings{Selection: correlate.Selection{First: r.Begin, Last: r.End, Stride: r.Stride, Average: r.Average}, Normalize: !r.NoNormalize, Parts: r.Parts, Smooth: r.Smooth}}
}
