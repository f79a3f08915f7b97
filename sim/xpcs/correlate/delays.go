// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

// Delay is one point of a multi-tau correlation.
type Delay struct {
	Frames int // delay in frames: Lag * 2^Level
	Level  int // level at which frames are summed over 2^Level
	Lag    int // delay in summed frames
}

// Delays lists the delays for n frames: 1 to perLevel at level 0, and perLevel+1 to 2 perLevel at every level, as
// long as the level has more summed frames than the delay.
func Delays(n, perLevel int) []Delay {
	var all []Delay
	add := func(lag, level int) bool {
		if lag<<level >= n>>level<<level {
			return false
		}
		all = append(all, Delay{lag << level, level, lag})
		return true
	}
	for lag := 1; lag <= perLevel; lag++ {
		if !add(lag, 0) {
			return all
		}
	}
	for level := 0; n>>level > 0; level++ {
		for lag := perLevel + 1; lag <= 2*perLevel; lag++ {
			if !add(lag, level) {
				return all
			}
		}
	}
	return all
}
