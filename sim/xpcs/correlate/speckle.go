// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import "math"

const (
	lookDelays = 8 // number of delays at which neighbouring pixels are compared
	mostReach  = 8 // largest distance of neighbours in pixels
	// rounding is the scatter of g2 from pixel to pixel below which it is only that of rounding
	rounding = 1e-9
)

// neighbours keeps what the pixels of a bin contribute to g2 at some delays, to see how far pixels move together.
type neighbours struct {
	places []int32 // of the pixels in frames, ascending
	width  int
	delays []int     // which delays are kept
	psi    []float64 // (pixel, delay)
}

func newNeighbours(places []int32, width, delays int) *neighbours {
	s := &neighbours{places: places, width: width}
	n := min(lookDelays, delays)
	for i := range n {
		s.delays = append(s.delays, i*(delays-1)/max(n-1, 1))
	}
	s.psi = make([]float64, len(places)*n)
	return s
}

// keep takes the contributions of pixel i; of gives that at a delay.
func (s *neighbours) keep(i int, of func(delay int) float64) {
	for j, k := range s.delays {
		s.psi[i*len(s.delays)+j] = of(k)
	}
}

// together returns, for a distance between pixels, the mean over delays of the correlation of their contributions.
func (s *neighbours) together(dr, dc int) float64 {
	n := len(s.delays)
	both, all := make([]float64, n), make([]float64, n)
	j := 0
	for i, p := range s.places {
		mine := s.psi[i*n : (i+1)*n]
		for k, v := range mine {
			all[k] += v * v
		}
		if c := int(p)%s.width + dc; c < 0 || c >= s.width {
			continue
		}
		to := p + int32(dr*s.width+dc)
		for j < len(s.places) && s.places[j] < to {
			j++
		}
		if j < len(s.places) && s.places[j] == to {
			for k, v := range s.psi[j*n : (j+1)*n] {
				both[k] += mine[k] * v
			}
		}
	}
	sum, count := 0.0, 0.0
	for k, v := range all {
		if v > 0 {
			sum, count = sum+both[k]/v, count+1
		}
	}
	if count == 0 {
		return 0
	}
	return sum / count
}

// area returns by how much the variance of g2 is larger than if pixels were independent, about the number of pixels of a speckle: the
// sum of the correlations of a pixel with those around it. The distances that count double as long as what they add is beyond
// chance; if those next to a pixel are not, it is 1.
func (s *neighbours) area() float64 {
	n := float64(len(s.places))
	scatter := 0.0
	for _, v := range s.psi {
		scatter += v * v
	}
	if math.Sqrt(scatter*n/float64(max(len(s.delays), 1))) < rounding {
		return 1
	}
	sum, reached, spread := 1.0, 0, 0.0
	for reach := 1; reach <= mostReach; reach *= 2 {
		more := 0.0
		for dr := 0; dr <= reach; dr++ {
			for dc := -reach; dc <= reach; dc++ {
				if dr == 0 && dc <= 0 || dr <= reached && max(dc, -dc) <= reached {
					continue
				}
				more += 2 * s.together(dr, dc)
			}
		}
		wide := float64(2*reach + 1)
		variance := 2 * (wide*wide - 1) / n
		chance := 3 * math.Sqrt(variance-spread)
		if more < chance || n < 20 {
			break
		}
		sum, reached, spread = sum+more, reach, variance
	}
	return sum
}
