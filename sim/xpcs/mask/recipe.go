// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Version is the version of the recipes that this package writes.
const Version = 1

// mostSteps bounds the steps of a recipe, whose source may be a stranger.
const mostSteps = 100_000

// Recipe is a History as data: the steps, with all their numbers, from which the same mask can be
// made again. Its JSON is
//
//	{"version": 1, "height": 512, "width": 1024, "blemish": "blemish.tif", "steps": [
//		{"threshold": {"low": 1, "high": 10000}},
//		{"draw": [{"kind": "circle", "center": [250, 260], "radius": 12}]}], "undone": 0}
type Recipe struct {
	Version int    `json:"version"`
	Height  int    `json:"height"` // rows of the detector
	Width   int    `json:"width"`  // columns of the detector
	Blemish string `json:"blemish,omitempty"`
	// Bare reports whether the record of the blemish is gone, by a reset or by a step in its place.
	Bare   bool   `json:"bare,omitempty"`
	Steps  []Step `json:"steps"`
	Undone int    `json:"undone"` // number of records that were undone, counted from the last
}

// ReadRecipe reads a recipe from JSON. Fields that it does not know are an error, because the mask would
// not be the same.
func ReadRecipe(b []byte) (Recipe, error) {
	var r Recipe
	if err := foreign.NotOther(b, foreign.MaskRecipe); err != nil {
		return r, fmt.Errorf("mask: %w", err)
	}
	if err := foreign.Decode(b, &r, true); err != nil {
		return r, fmt.Errorf("mask: the recipe cannot be read: %w: want the JSON that a History's recipe has", err)
	}
	return r, r.check()
}

func (r Recipe) check() error {
	records := len(r.Steps) + 1
	if r.Bare {
		records--
	}
	switch {
	case r.Version != Version:
		return fmt.Errorf("mask: the recipe is of version %d, but this program knows only version %d: update the program", r.Version, Version)
	case r.Undone < 0 || r.Undone > records:
		return fmt.Errorf("mask: undone is %d in a recipe of %s: want at least 0 and at most the number of records", r.Undone, errtext.Count(records, "record"))
	case len(r.Steps) > mostSteps:
		return fmt.Errorf("mask: the recipe has %d steps: want at most %d", len(r.Steps), mostSteps)
	}
	for k, s := range r.Steps {
		if s.Kind() == "" {
			return fmt.Errorf("mask: step %d of the recipe has the kinds %q: want exactly one of file, threshold, constraints, pixels, draw and outliers", k+1, s.kinds())
		}
	}
	return checkShape(r.Height, r.Width)
}

// Recipe returns the history as data.
func (h *History) Recipe() Recipe {
	r := Recipe{Version: Version, Height: h.source.Height, Width: h.source.Width, Blemish: h.blemish, Bare: h.bare,
		Steps: []Step{}, Undone: len(h.records) - 1 - h.at}
	steps := 2
	if h.bare {
		steps = 1
	}
	for _, rec := range h.records[steps:] {
		r.Steps = append(r.Steps, rec.step)
	}
	return r
}

// Restore makes a history from a recipe. The source must have the recipe's shape. Steps that change
// nothing, because the image is another one, keep their records.
func Restore(r Recipe, s Source) (*History, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.Height != s.Height || r.Width != s.Width {
		return nil, fmt.Errorf("mask: the recipe is for %d x %d pixels, but the detector has %d x %d: use the recipe of this detector", r.Height, r.Width, s.Height, s.Width)
	}
	h, err := NewHistory(s, r.Blemish)
	if err != nil {
		return nil, err
	}
	if r.Bare {
		h.Reset()
	}
	for k, step := range r.Steps {
		if _, err := h.apply(step, true); err != nil {
			return nil, fmt.Errorf("%w (step %d of the recipe)", err, k+1)
		}
	}
	h.at -= r.Undone
	return h, nil
}
