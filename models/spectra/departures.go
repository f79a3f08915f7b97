// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/check"
)

// Departures from the model that verdicts name. Each is a column: what an alternative model adds to the fit, in standard
// deviations of the pixels. Of several alternatives, the one that explains most of the residuals is tested, at a p-value
// that allows for the choice.
const (
	KindSecondStar = "second star"
	KindResolution = "resolution"
)

const (
	// secondStep is the distance of the velocities at which a second star is sought, and secondNear how near to that of the
	// first it may be, in km/s.
	secondStep, secondNear = 12.5, 25
)

// widths are the standard deviations of the Gaussians, in pixels, with which templates are smoothed to see what another
// resolution would change.
var widths = []float64{0.7, 1.4, 2.2, 3.2}

// fewestLeft is the number of degrees of freedom from which departures are named.
const fewestLeft = 20

// projector removes what a fit can take up from columns.
type projector struct {
	r       *remains
	columns *mat.Dense // of the fit, as rows
	factor  mat.Cholesky
	ok      bool
	of      []float64 // what the columns see of the residuals
}

func newProjector(r *remains) *projector {
	m, n := len(r.names), len(r.z)
	if m == 0 || n-m < fewestLeft {
		return &projector{r: r}
	}
	p := &projector{r: r, columns: mat.NewDense(m, n, r.columns)}
	var normal mat.SymDense
	normal.SymOuterK(1, p.columns)
	p.ok = p.factor.Factorize(&normal)
	return p
}

// outside returns the products of some columns, the rows of c, with each other and with the residuals, after what the fit
// can take up is removed from them. Columns of which nothing is left have a square of 0.
func (p *projector) outside(c *mat.Dense) (products *mat.Dense, along []float64) {
	rows, n := c.Dims()
	z := mat.NewVecDense(n, p.r.z)
	var cross, solved, taken mat.Dense
	var onFit, onColumns, back mat.VecDense
	cross.Mul(p.columns, c.T())
	onFit.MulVec(p.columns, z)
	onColumns.MulVec(c, z)
	products, along = mat.NewDense(rows, rows, nil), make([]float64, rows)
	if p.factor.SolveTo(&solved, &cross) != nil || p.factor.SolveVecTo(&back, &onFit) != nil {
		return products, along
	}
	products.Mul(c, c.T())
	taken.Mul(cross.T(), &solved)
	for k := range rows {
		along[k] = onColumns.AtVec(k) - mat.Dot(cross.ColView(k), &back)
		square := products.At(k, k)
		for l := range rows {
			products.Set(k, l, products.At(k, l)-taken.At(k, l))
		}
		if !(products.At(k, k) > 1e-6*square) {
			products.Set(k, k, 0)
		}
	}
	return products, along
}

// named returns the departures of a fit that have names.
func (l *layout) named(scanner *scanner, r *remains, star *Star, fit *Fit) ([]check.Direction, error) {
	if l.velocities > 1 {
		return nil, nil
	}
	p := newProjector(r)
	if !p.ok {
		return nil, nil
	}
	vels := make([]float64, l.f.s.Velocities)
	for k := range vels {
		vels[k] = fit.X[0] + secondStep*(float64(k)-float64(len(vels)-1)/2)
	}
	vels[len(vels)/2] = fit.X[0]
	var best second
	var sharp resolution
	rotations := []float64{fit.X[1]}
	if fit.X[1] > 0 && !l.f.fixed[1] {
		rotations = append(rotations, 0)
	}
	for _, rotation := range rotations {
		models, err := l.spectraAt(scanner, star, fit, r, vels, rotation)
		if err != nil {
			return nil, err
		}
		best.seek(p, models, vels, fit.X[0], rotation == 0, len(rotations))
		sharp.seek(p, l, star, fit, models.RawRowView(len(vels)/2), rotation, len(rotations))
	}
	var all []check.Direction
	if best.columns != nil {
		all = append(all, best.direction())
	}
	if sharp.column != nil {
		all = append(all, sharp.direction())
	}
	var step jump
	if step.seek(p, star, fit); step.column != nil {
		all = append(all, step.direction())
	}
	return all, nil
}

// spectraAt returns the spectra of a star at velocities and a rotation, with the continua of its fit, one row each.
func (l *layout) spectraAt(scanner *scanner, star *Star, fit *Fit, r *remains, vels []float64, rotation float64) (*mat.Dense, error) {
	state, err := scanner.state(l, 0, star, append([]float64{fit.X[0], rotation}, fit.X[2:]...))
	if err != nil {
		return nil, err
	}
	copy(state.params[0], vels)
	if err := state.run(); err != nil {
		return nil, err
	}
	out := mat.NewDense(len(vels), len(r.z), nil)
	for k, x := range star.Spectra {
		n, scaled := len(x.Lam), state.output(1+k)
		one := &fit.Spectra[k]
		for i, p := range r.used[k] {
			c := one.Model[p] / one.Template[p]
			for v := range vels {
				out.Set(v, r.first[k]+i, c*scaled[v*n+p])
			}
		}
	}
	return out, state.s.Err()
}

// second is the best second star so far: one beside the star of the fit or, where that is a blend, two in its place.
type second struct {
	score      float64 // fall of chi-square less what the choice among all that were tried would give
	velocities []float64
	apart      float64 // velocity of the second less that of the first
	columns    [][]float64
	tried      int
}

// seek looks for a star at one of some velocities beside that of the fit or, if pairs is true, for two stars in its place. The
// rows of c are the spectra at these velocities.
func (s *second) seek(p *projector, c *mat.Dense, vels []float64, velocity float64, pairs bool, times int) {
	products, along := p.outside(c)
	take := func(fall float64, tried int, places ...int) {
		if score := fall - 2*math.Log(float64(tried)) - 2*float64(len(places)-1); score > s.score || s.columns == nil {
			s.score, s.tried, s.velocities, s.columns = score, tried, nil, nil
			for _, k := range places {
				s.velocities = append(s.velocities, vels[k])
				s.columns = append(s.columns, slices.Clone(c.RawRowView(k)))
			}
			s.apart = s.velocities[len(places)-1] - velocity
		}
	}
	for k, v := range vels {
		if square := products.At(k, k); square > 0 && along[k] > 0 && math.Abs(v-velocity) >= secondNear {
			take(along[k]*along[k]/square, times*len(vels), k)
		}
	}
	for k := range vels {
		for l := range k {
			if !pairs || !(math.Abs(vels[k]-vels[l]) >= secondNear) {
				continue
			}
			a, b, d := products.At(k, k), products.At(k, l), products.At(l, l)
			det := a*d - b*b
			if !(det > 1e-6*a*d) {
				continue
			}
			x, y := (d*along[k]-b*along[l])/det, (a*along[l]-b*along[k])/det
			if x > 0 && y > 0 {
				take(x*along[k]+y*along[l], times*len(vels)*(len(vels)-1)/2, k, l)
			}
		}
	}
}

func (s *second) direction() check.Direction {
	positive := func(coef []float64) bool { return !slices.ContainsFunc(coef, func(c float64) bool { return !(c > 0) }) }
	return check.Direction{Kind: KindSecondStar, Columns: s.columns, Tried: s.tried, Holds: positive,
		Say: func(coef, _ []float64) (string, string) {
			const remedy = "look for a companion or a neighbour on the sky, and do not trust the velocity: it is that of the blend"
			if len(coef) == 1 {
				return fmt.Sprintf("the light of a second star seems to be in the spectrum, at about %.0f km/s, which is %s km/s from the first, with about %.0f %% of its flux", s.velocities[0], check.Rough(s.apart), 100*coef[0]), remedy
			}
			bright, faint := 0, 1
			if coef[1] > coef[0] {
				bright, faint = 1, 0
			}
			return fmt.Sprintf("the spectrum seems to be that of two stars, at about %.0f and %.0f km/s, the second with about %.0f %% of the flux of the first", s.velocities[bright], s.velocities[faint], 100*coef[faint]/coef[bright]), remedy
		}}
}

// resolution is the best other resolution so far.
type resolution struct {
	fall, width, rotation, own float64
	arms                       []string
	column                     []float64
	tried                      int
}

func (s *resolution) seek(p *projector, l *layout, star *Star, fit *Fit, model []float64, rotation float64, times int) {
	r := p.r
	s.tried = times * len(widths)
	columns := mat.NewDense(len(widths), len(r.z), nil)
	for k, x := range star.Spectra {
		one, n := &fit.Spectra[k], len(x.Lam)
		// Pixels that do not count are as the fit has them.
		flux := slices.Clone(one.Model)
		for i, p := range r.used[k] {
			if t := r.scaled[k][p]; t != 0 {
				flux[p] = model[r.first[k]+i] * one.Template[p] / t
			}
		}
		for w, width := range widths {
			smooth := smoothed(flux, width)
			for i, p := range r.used[k] {
				if p >= 0 && p < n && one.Template[p] != 0 {
					columns.Set(w, r.first[k]+i, (smooth[p]-one.Model[p])*r.scaled[k][p]/one.Template[p])
				}
			}
		}
	}
	products, along := p.outside(columns)
	for w, width := range widths {
		square := products.At(w, w)
		// Another model than that of the fit can only be added, not taken away.
		if fall := along[w] * along[w] / square; square > 0 && (rotation == fit.X[1] || along[w] > 0) && fall > s.fall {
			s.fall, s.width, s.rotation, s.own = fall, width, rotation, fit.X[1]
			s.column = slices.Clone(columns.RawRowView(w))
		}
	}
}

func (s *resolution) direction() check.Direction {
	return check.Direction{Kind: KindResolution, Columns: [][]float64{s.column}, Tried: s.tried, Say: func(coef, _ []float64) (string, string) {
		how, size := "wider", s.width*math.Sqrt(math.Abs(coef[0]))
		if coef[0] < 0 {
			how = "narrower"
		}
		text := fmt.Sprintf("the resolution of the spectrum seems to differ from that of the model: lines are %s, as by a Gaussian with a standard deviation of about %.1f pixels", how, size)
		if s.rotation != s.own {
			text += fmt.Sprintf(", and the fit takes this for a rotation of %.0f km/s", s.own)
		}
		return text, "give the resolution of the instrument (resolving power, or the matrices in the file), and do not trust the rotation"
	}}
}

// smoothed returns a row of pixels convolved with a Gaussian of a standard deviation in pixels; beyond the ends, the row goes
// on as it ends.
func smoothed(x []float64, width float64) []float64 {
	half := int(math.Ceil(4 * width))
	kernel, sum := make([]float64, half+1), 0.0
	for k := range kernel {
		kernel[k] = math.Exp(-float64(k*k) / (2 * width * width))
		if sum += kernel[k]; k > 0 {
			sum += kernel[k]
		}
	}
	out := make([]float64, len(x))
	for i := range x {
		for k := -half; k <= half; k++ {
			out[i] += kernel[max(k, -k)] / sum * x[min(max(i+k, 0), len(x)-1)]
		}
	}
	return out
}
