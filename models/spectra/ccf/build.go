package ccf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/parallel"
	sim "github.com/euryale-dev/euryale/sim/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// BuildSettings say how templates for cross-correlation are made.
type BuildSettings struct {
	First, Last float64 // wavelengths of the arm, in Angstrom
	Step        float64 // of the pixels, in Angstrom, at most
	// Every keeps one template of so many, spread over the library. Default 30.
	Every int
	// VSini are the rotations of each template, in km/s. Default: 0 alone.
	VSini []float64
	// KeepContinuum leaves the continuum in the templates. Default: they are divided by it.
	KeepContinuum bool
	Threads       int // default 1
	// Done is told how many templates are made. Default: nobody is.
	Done func(made, of int)
}

// referenceLimb is the limb darkening of templates that rotate.
const referenceLimb = 0.6

// Build makes templates for cross-correlation of the template spectra of one arm: rows of logFlux, the natural
// logarithms of spectra at the wavelengths lam (Angstrom, equally spaced in their logarithm if they are to
// rotate), and rows of params, their physical parameters.
func Build(ctx context.Context, setup string, names []string, params [][]float64, lam []float64, logFlux [][]float64, s BuildSettings) (*rvspecfit.CCF, error) {
	if s.Every == 0 {
		s.Every = 30
	}
	if len(s.VSini) == 0 {
		s.VSini = []float64{0}
	}
	switch {
	case !(s.First > 0 && s.First < s.Last) || math.IsInf(s.Last, 0) || !(s.Step > 0) || (s.Last-s.First)/s.Step > 1<<24:
		return nil, fmt.Errorf("ccf: %s: pixels of %g from %g to %g Angstrom: want an ascending range, and at most 2^24 pixels", setup, s.Step, s.First, s.Last)
	case s.Every < 1:
		return nil, fmt.Errorf("ccf: %s: one template of %d: want at least 1", setup, s.Every)
	case len(params) == 0 || len(params) != len(logFlux):
		return nil, fmt.Errorf("ccf: %s: %d sets of parameters for %d spectra: want as many, and at least one", setup, len(params), len(logFlux))
	}
	for i := range params {
		if len(params[i]) != len(names) || len(logFlux[i]) != len(lam) {
			return nil, fmt.Errorf("ccf: %s: template %d has %d parameters and %d pixels: want %d and %d", setup, i, len(params[i]), len(logFlux[i]), len(names), len(lam))
		}
	}
	fastest := 0.0
	for _, v := range s.VSini {
		if !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("ccf: %s: a rotation of %g km/s: want 0 or more", setup, v)
		}
		fastest = max(fastest, v)
	}
	c := &rvspecfit.CCF{Setup: setup, Continuum: !s.KeepContinuum, LogL0: math.Log(s.First), LogL1: math.Log(s.Last), Points: 1, ParNames: names}
	for c.Points < int(math.Ceil((s.Last-s.First)/s.Step)) {
		c.Points *= 2
	}
	if c.Continuum {
		// About 20 nodes, but none closer than 1000 km/s.
		c.Nodes = 20
		c.Step = max(1000, 3e5*math.Expm1((c.LogL1-c.LogL0)/float64(c.Nodes)))
	}
	turn, err := newRotator(lam, s.VSini, fastest)
	if err != nil {
		return nil, fmt.Errorf("ccf: %s: %w", setup, err)
	}
	chosen := Subsample(params, s.Every)
	var list []float64
	for _, i := range chosen {
		for _, v := range s.VSini {
			list = append(list, params[i]...)
			c.VSini = append(c.VSini, v)
		}
	}
	models := make([]float32, len(c.VSini)*c.Points)
	out := sim.LogGrid{First: c.LogL0, Last: c.LogL1, N: c.Points}.Wavelengths()
	faults := make([]error, len(chosen))
	threads := max(s.Threads, 1)
	states := make([]*ad.State, threads)
	for lo := 0; lo < len(chosen); lo += threads {
		part := chosen[lo:min(lo+threads, len(chosen))]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		parallel.Do(len(part), len(part), func(_, k int) {
			if states[k] == nil {
				states[k] = turn.NewState()
			}
			in := states[k].Input(0)
			for j := range s.VSini {
				copy(in[j*len(lam):], logFlux[part[k]])
			}
			err := states[k].Run()
			flux := states[k].Output(0)
			for j := 0; err == nil && j < len(s.VSini); j++ {
				row := ((lo+k)*len(s.VSini) + j) * c.Points
				err = template(models[row:row+c.Points], out, lam, flux[j*len(lam):(j+1)*len(lam)], c)
			}
			faults[lo+k] = err
		})
		if s.Done != nil {
			s.Done(lo+len(part), len(chosen))
		}
	}
	for k, err := range faults {
		if err != nil {
			return nil, fmt.Errorf("ccf: %s: template %v: %w", setup, params[chosen[k]], err)
		}
	}
	if c.Params, err = tensor.From(list, len(c.VSini), len(names)); err != nil {
		return nil, err
	}
	if c.Models, err = tensor.From(models, len(c.VSini), c.Points); err != nil {
		return nil, err
	}
	return c, transforms(c)
}

// newRotator returns a program from as many rows of a template's logarithm as there are rotations to spectra that
// rotate so.
func newRotator(lam, vsini []float64, fastest float64) (*ad.Program, error) {
	x := ad.Input("log flux", len(vsini), len(lam))
	flux := ad.Exp(x)
	if fastest > 0 {
		g, err := sim.NewGrid(lam, true)
		if err != nil {
			return nil, fmt.Errorf("templates that rotate: %w", err)
		}
		flux = g.Broaden(flux, ad.Const(vsini), sim.Rotation{LimbDarkening: referenceLimb, MaxVsini: fastest})
	}
	return ad.Compile([]*ad.Node{flux}, ad.Settings{Inputs: []*ad.Node{x}, Backend: ad.CPU{Threads: 1}})
}

// template sets the pixels of a template at the wavelengths out: divided by the continuum, and 1 where there is
// nothing.
func template(dst []float32, out, lam, flux []float64, c *rvspecfit.CCF) error {
	if c.Continuum {
		level := median(flux)
		sd := make([]float64, len(flux))
		for i, v := range flux {
			sd[i] = max(1e-5*v, 1e-2*level)
		}
		cont, err := sim.ContinuumFit{Step: c.Step}.Fit(lam, flux, sd)
		if err != nil {
			return err
		}
		least := 1e-2 * median(cont)
		flux = slices.Clone(flux)
		for i, v := range cont {
			flux[i] /= max(v, least)
		}
	}
	k := 0
	for i, x := range out {
		for k+1 < len(lam)-1 && lam[k+1] <= x {
			k++
		}
		v := 1.0
		if x >= lam[0] && x <= lam[len(lam)-1] {
			right := (math.Log(x) - math.Log(lam[k])) / (math.Log(lam[k+1]) - math.Log(lam[k]))
			v = (1-right)*flux[k] + right*flux[k+1]
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the flux at %g Angstrom is %g", x, v)
		}
		dst[i] = float32(v)
	}
	return nil
}

// transforms sets the Fourier transforms that rvspecfit keeps beside the templates.
func transforms(c *rvspecfit.CCF) error {
	rows, half := len(c.VSini), c.Points/2+1
	v := c.Models.Float64s()
	parts := [2][]complex128{make([]complex128, rows*half), make([]complex128, rows*half)}
	for i := range rows {
		sim.Transforms(parts[0][i*half:(i+1)*half], parts[1][i*half:(i+1)*half], v[i*c.Points:(i+1)*c.Points])
	}
	var err error
	if c.FFT, err = tensor.From(parts[0], rows, half); err != nil {
		return err
	}
	c.FFTSquare, err = tensor.From(parts[1], rows, half)
	return err
}

// Subsample returns every n-th of the templates along a curve that fills the space of their parameters (Morton's
// order of the ranks of the parameters), so that those that are kept are spread evenly.
func Subsample(params [][]float64, every int) []int {
	if len(params) == 0 {
		return nil
	}
	dim := len(params[0])
	bits := 64 / max(dim, 1)
	keys := make([]uint64, len(params))
	for k := range dim {
		var values []float64
		for _, p := range params {
			values = append(values, p[k])
		}
		slices.Sort(values)
		values = slices.Compact(values)
		for i, p := range params {
			rank, _ := slices.BinarySearch(values, p[k])
			part := 0.0
			if len(values) > 1 {
				part = float64(rank) / float64(len(values)-1)
			}
			most := math.Ldexp(1, bits)
			q := uint64(math.MaxUint64 >> (64 - bits))
			if x := math.Floor(part * most); x < most {
				q = uint64(x)
			}
			for b := range bits {
				keys[i] |= (q >> b & 1) << (b*dim + k)
			}
		}
	}
	order := make([]int, len(params))
	for i := range order {
		order[i] = i
	}
	// The reference's keys have a sign.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(int64(keys[a]), int64(keys[b])) })
	var some []int
	for i := 0; i < len(order); i += every {
		some = append(some, order[i])
	}
	return some
}
