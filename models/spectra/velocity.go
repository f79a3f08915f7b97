package spectra

import "math"

// VelocityPosterior is the posterior of the velocity with all else held fixed.
type VelocityPosterior struct {
	Vel, SD            float64 // best velocity, and standard deviation about it, in km/s
	Skewness, Kurtosis float64 // about Vel; those of a normal distribution are 0 and 3
	ChiSquare          float64 // least on the grid
}

// scanSettings are those of a velocity posterior.
type scanSettings struct {
	min, max  float64 // km/s
	step      float64 // of the first grid
	leastStep float64
}

// posteriorOf returns the posterior on a grid of chi-square. The best velocity is that of a parabola through
// the least value and its neighbours, or of the grid at its ends.
func posteriorOf(vel, chi []float64) VelocityPosterior {
	best := 0
	for i, c := range chi {
		if c < chi[best] || math.IsNaN(chi[best]) {
			best = i
		}
	}
	p := VelocityPosterior{Vel: vel[best], ChiSquare: chi[best]}
	if best > 0 && best < len(vel)-1 {
		a, b, c := chi[best-1], chi[best], chi[best+1]
		if bend := a - 2*b + c; bend > 0 {
			p.Vel += 0.5 * (a - c) / bend * (vel[best+1] - vel[best])
		}
	}
	var sum, second, third, fourth float64
	for i, c := range chi {
		w := math.Exp(-(c - chi[best]) / 2)
		if math.IsNaN(w) {
			continue
		}
		d := vel[i] - p.Vel
		sum, second, third, fourth = sum+w, second+w*d*d, third+w*d*d*d, fourth+w*d*d*d*d
	}
	p.SD = math.Sqrt(second / sum)
	if p.SD > 1e-10 {
		p.Skewness, p.Kurtosis = third/sum/(p.SD*p.SD*p.SD), fourth/sum/(p.SD*p.SD*p.SD*p.SD)
	}
	return p
}

// scan finds the posterior of the velocity on grids that become finer: first of the whole range, through a
// velocity near the best one, and then about the best, until the steps are a fifth of the standard
// deviation, or small. chi returns -2 log L at velocities.
func (s scanSettings) scan(near float64, chi func(vel []float64) ([]float64, error)) (p VelocityPosterior, err error) {
	lo, hi, step := s.min, s.max, s.step
	best := near
	const mostRounds = 10
	for range mostRounds {
		if p, err = s.grid(best, lo, hi, step, chi); err != nil {
			return p, err
		}
		best = p.Vel
		if step < p.SD/5 || step < s.leastStep {
			break
		}
		half := 10 * p.SD
		if step > p.SD {
			half, step = 10*step, step/5
		} else {
			step = 0.8 * p.SD / 5
		}
		lo, hi = max(lo, best-half), min(hi, best+half)
	}
	return p, nil
}

// about finds the posterior of the velocity where the minimum and the standard deviation are known from a
// fit: a scan of the whole range, and a fine one about the minimum. Where the fit turns out to be wrong
// about them, it is scan.
func (s scanSettings) about(best, sd float64, chi func(vel []float64) ([]float64, error)) (VelocityPosterior, error) {
	wide, err := s.grid(best, s.min, s.max, s.step, chi)
	if err != nil || !(sd > 0) || math.IsInf(sd, 1) || math.Abs(wide.Vel-best) > s.step {
		if err != nil {
			return wide, err
		}
		return s.scan(wide.Vel, chi)
	}
	// Sums of a smooth density at a quarter of its width are as good as integrals.
	fine, err := s.grid(best, max(s.min, best-8*sd), min(s.max, best+8*sd), sd/4, chi)
	if err != nil || math.Abs(math.Log(fine.SD/sd)) < 0.5 {
		return fine, err
	}
	return s.scan(fine.Vel, chi)
}

// grid returns the posterior on one grid, through a velocity.
func (s scanSettings) grid(through, lo, hi, step float64, chi func(vel []float64) ([]float64, error)) (VelocityPosterior, error) {
	var vel []float64
	for k := math.Ceil((lo-through)/step - 1e-9); k < (hi-through)/step-1e-9; k++ {
		vel = append(vel, through+k*step)
	}
	if len(vel) == 0 {
		return VelocityPosterior{Vel: through}, nil
	}
	values, err := chi(vel)
	return posteriorOf(vel, values), err
}
