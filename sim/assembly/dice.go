package assembly

// dice is a stream of random numbers, a function of what it is keyed by and of how
// many were drawn (splitmix64, see mix).
type dice struct{ state uint64 }

func newDice(seed uint64, purpose uint32, index int) dice {
	return dice{mix(mix(seed^uint64(purpose)<<32) + uint64(index))}
}

// next returns 64 random bits.
func (d *dice) next() uint64 {
	d.state += 0x9E3779B97F4A7C15
	z := (d.state ^ (d.state >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// uniform returns a number from 0 to 1, without 0.
func (d *dice) uniform() float64 { return float64(d.next()>>11+1) / (1 << 53) }

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int { return int(d.next() >> 32 * uint64(n) >> 32) }
