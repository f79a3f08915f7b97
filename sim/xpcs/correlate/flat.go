// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

// Flat is a frame in which nearly all pixels in bins read the same number, which is far above those of the other frames. Photons do not do that.
type Flat struct {
	Frame  int     // number of the frame in the selection, from 0
	Counts float64 // counts of the pixels
	Others float64 // mean counts of a pixel in the other frames
}

const (
	fewestFlat = 30  // pixels from which a frame can be flat
	shareFlat  = 0.9 // share of the pixels in bins with the same reading
	flatFactor = 2   // times the mean of the other frames
)

// flat returns the brightest flat frame, given the mean of each frame; nil if there is none. It is that of the largest readings of nearly all pixels.
func (v *strays) flat(trace []float64) *Flat {
	type reading struct {
		frame int32
		value float32
	}
	often, pixels := map[reading]int{}, 0
	var most reading
	for p, in := range v.valid {
		if !in {
			continue
		}
		pixels++
		r := reading{v.frame[p], v.largest[p]}
		if often[r]++; often[r] > often[most] {
			most = r
		}
	}
	if n := often[most]; most.value == 0 || n < fewestFlat || float64(n) < shareFlat*float64(pixels) {
		return nil
	}
	others := 0.0
	for f, x := range trace {
		if f != int(most.frame) {
			others += x * v.average / float64(len(trace)-1)
		}
	}
	found := &Flat{int(most.frame), float64(most.value) * v.average, others}
	if found.Counts < flatFactor*others {
		return nil
	}
	return found
}
