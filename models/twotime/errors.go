package twotime

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Scores are what the errors of a fit of pairs follow from: H = J'WJ and Q = J'W V W J, with the derivatives J of the entries by the
// parameters, their weights W and their covariance V, which has what entries that share a frame have in common.
type Scores struct {
	H, Q    *mat.SymDense
	Entries int
	Scatter float64 // sum of weights times variances
}

// Scores returns those of an angle: c is C of the fitted model (frames, frames), weights and derivatives by the parameters are symmetric
// matrices likewise. Pairs that are not used, and the diagonal, have the weight 0. It takes a product of matrices of frames for each
// parameter: Q_ab = tr(C A_a C A_b)/(2 P) with A = W J.
func (n Noise) Scores(frames int, c, weights []float64, derivatives [][]float64) Scores {
	p := len(derivatives)
	s := Scores{H: mat.NewSymDense(p, nil), Q: mat.NewSymDense(p, nil)}
	for i := range frames {
		for j := i + 1; j < frames; j++ {
			if w := weights[i*frames+j]; w > 0 {
				s.Entries++
				s.Scatter += w * (c[i*frames+i]*c[j*frames+j] + c[i*frames+j]*c[i*frames+j]) / n.Speckles
			}
		}
	}
	var ws kernels.Workspace
	weighted := make([]float64, frames*frames)
	products := make([][]float64, p) // C A_a
	for a, d := range derivatives {
		for i, w := range weights {
			weighted[i] = w * d[i]
		}
		products[a] = make([]float64, frames*frames)
		kernels.Gemm64(kernels.Best(), &ws, false, false, frames, frames, frames, 1, c, frames, weighted, frames, 0, products[a], frames)
		for b := range a + 1 {
			s.H.SetSym(b, a, dot(weighted, derivatives[b])/2)
		}
	}
	turned := weighted
	for a := range p {
		for i := range frames {
			for j := range frames {
				turned[j*frames+i] = products[a][i*frames+j]
			}
		}
		for b := a; b < p; b++ {
			s.Q.SetSym(a, b, dot(turned, products[b])/(2*n.Speckles))
		}
	}
	return s
}

func dot(a, b []float64) float64 { return kernels.Dot64(kernels.Best())(&a[0], &b[0], len(a)) }

// Sandwich returns the covariance H^-1 Q H^-1 of the parameters, and the number of independent entries that would tell them as well on
// average, m p/tr(H^-1 Q) for m entries with weights of 1 over their variances.
func (s Scores) Sandwich() (cov *mat.SymDense, effective float64, err error) {
	p := s.H.SymmetricDim()
	inverse, ok := inverted(s.H, p)
	if !ok {
		return nil, 0, fmt.Errorf("twotime: the data do not tell all %d parameters apart: hold some fixed", p)
	}
	var left, both mat.Dense
	left.Mul(inverse, s.Q)
	both.Mul(&left, inverse)
	cov = mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			cov.SetSym(i, j, (both.At(i, j)+both.At(j, i))/2)
		}
	}
	return cov, float64(p) * s.Scatter / mat.Trace(&left), nil
}

// SharedErrors are the errors of a fit that allow for what entries that share a frame have in common.
type SharedErrors struct {
	SD, Cov   []float64 // of Fit.X
	Effective float64   // independent entries that would tell the parameters as well
	Noise     []Noise   // of each angle, as given or estimated
}

// SharedErrors computes the errors of a fit of these data with these settings. It takes a product of matrices of frames for each angle and
// parameter.
func (f *Fit) SharedErrors(ctx context.Context, d Data, s Settings) (*SharedErrors, error) {
	basis, err := s.Scaling.basis(d.Setup.Angles)
	if err != nil {
		return nil, err
	}
	linear := 0
	if basis != nil {
		linear = len(basis[0])
	}
	names := d.Setup.Names()
	free := f.Names[2*linear:]
	size := len(f.X)
	if size != 2*linear+len(free) || len(f.Contrast) != len(d.C2) {
		return nil, fmt.Errorf("twotime: a fit of %d parameters and %d angles for data of %d angles with scaling %q", size, len(f.Contrast), len(d.C2), s.Scaling)
	}
	one := d.Setup
	one.Angles = []float64{0}
	theta, err := one.Inputs()
	if err != nil {
		return nil, err
	}
	g := one.Pairs(theta, transport.Square(len(one.Times)))[0]
	outs := []*ad.Node{g}
	for k, name := range names { // the derivatives by the angle of the motion are those at an angle that was turned
		if slices.Contains(free, name) {
			outs = append(outs, ad.JVP(g, theta[k:k+1], []*ad.Node{ad.Scalar(1)}))
		}
	}
	program, err := ad.Compile(outs, ad.Settings{Inputs: theta, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	threads := max(1, s.Threads)
	states := make([]*ad.State, threads)
	all := make([]Scores, len(d.C2))
	out := &SharedErrors{Noise: make([]Noise, len(d.C2))}
	n := len(one.Times)
	err = inParallel(ctx, threads, len(d.C2), func(hand, angle int) error {
		if states[hand] == nil {
			states[hand] = program.NewState()
		}
		st := states[hand]
		for i, v := range turned(&d.Setup, f.Theta, d.Setup.Angles[angle]) {
			st.Input(i)[0] = v
		}
		if err := st.Run(); err != nil {
			return err
		}
		g, contrast, offset := st.Output(0), f.Contrast[angle], f.Offset[angle]
		noise, err := d.noise(angle, g, contrast, offset)
		if err != nil {
			return err
		}
		out.Noise[angle] = noise
		c, weights, ones := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		for i := range n {
			for j := range n {
				at := i*n + j
				c[at], ones[at] = contrast*g[at]+offset-1, 1
				if i == j {
					c[at] += noise.InverseCount
				} else if w := d.weight(angle, min(i, j), max(i, j)); w > 0 {
					weights[at] = w * w
				}
			}
		}
		local := [][]float64{g, ones}
		for k := range free {
			column := slices.Clone(st.Output(1 + k))
			for i := range column {
				column[i] *= contrast
			}
			local = append(local, column)
		}
		if basis == nil {
			local = local[2:]
		}
		all[angle] = noise.Scores(n, c, weights, local)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum := Scores{H: mat.NewSymDense(size, nil), Q: mat.NewSymDense(size, nil)}
	for angle, s := range all {
		// the parameters of an angle as combinations of those of the fit
		var to []map[int]float64
		for part := range 2 {
			if basis == nil {
				break
			}
			of := map[int]float64{}
			for i, b := range basis[angle] {
				if b != 0 {
					of[part*linear+i] = b
				}
			}
			to = append(to, of)
		}
		for k := range free {
			to = append(to, map[int]float64{2*linear + k: 1})
		}
		for a, left := range to {
			for b, right := range to {
				for i, u := range left {
					for j, v := range right {
						if i <= j {
							sum.H.SetSym(i, j, sum.H.At(i, j)+u*v*s.H.At(a, b))
							sum.Q.SetSym(i, j, sum.Q.At(i, j)+u*v*s.Q.At(a, b))
						}
					}
				}
			}
		}
		sum.Entries += s.Entries
		sum.Scatter += s.Scatter
	}
	cov, effective, err := sum.Sandwich()
	if err != nil {
		return nil, err
	}
	out.Effective = effective
	for i := range size {
		out.SD = append(out.SD, math.Sqrt(cov.At(i, i)))
		for j := range size {
			out.Cov = append(out.Cov, cov.At(i, j))
		}
	}
	return out, nil
}
