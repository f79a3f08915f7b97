package build

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/sim/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// Arm says how the templates of an arm are made.
type Arm struct {
	Name        string
	First, Last float64 // wavelengths, Angstrom; pixels go on beyond both by Padding
	Step        float64 // of the pixels, Angstrom; of logarithmic ones in the middle of the arm
	Linear      bool    // whether pixels are equally wide; default: in the logarithm of the wavelength, as rotation needs
	// Power is the resolving power, wavelength over FWHM: a number, or an expression of the wavelength x such as
	// x/1.55.
	Power string
	// FixedFWHM takes Power for that in the middle of the arm, and the FWHM for the same everywhere.
	FixedFWHM bool
	// Air gives wavelengths in air. Default: vacuum.
	Air bool
}

// arms are those of DESI.
var arms = []Arm{
	{Name: "desi_b", First: 3500, Last: 5900, Step: 0.4, Power: "x/1.55"},
	{Name: "desi_r", First: 5660, Last: 7720, Step: 0.4, Power: "x/1.55"},
	{Name: "desi_z", First: 7420, Last: 9924, Step: 0.4, Power: "x/1.8"},
}

// ByName returns an arm of an instrument that is known: desi_b, desi_r or desi_z.
func ByName(name string) (Arm, error) {
	var names []string
	for _, a := range arms {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Arm{}, fmt.Errorf("build: there is no arm %q: want one of %s, or your own with its wavelengths and resolution", name, strings.Join(names, ", "))
}

// Normalisation says by what spectra are divided.
type Normalisation string

// The normalisations.
const (
	LinearContinuum Normalisation = "linear_continuum" // a straight line in the logarithm, through the medians of both halves
	Median          Normalisation = "median"
	NoNormalisation Normalisation = "none"
)

// Settings are those of templates. The zero value is the default.
type Settings struct {
	Normalise Normalisation // default LinearContinuum
	Native    float64       // resolving power of the spectra; default 100000
	Padding   float64       // velocity, km/s, by which templates go on beyond the arm; default 1000
	Float64   bool          // keeps 64 bits of each number; default 32
	Revision  string        // of the library
	Command   string        // command line, for the files
	// LogParams are the parameters whose logarithm is interpolated. Default teff, if there is one.
	LogParams []string
	// SkipBad leaves out spectra that cannot be read, and tells Note. Default: the first one ends it.
	SkipBad bool
	Threads int                // default GOMAXPROCS
	Done    func(made, of int) // is told of progress
	Note    func(text string)  // is told what a user may want to know
}

// Source gives the spectra of a model grid.
type Source interface {
	// Params returns the names of the parameters, and their values, a row for each spectrum.
	Params() (names []string, values [][]float64)
	// Spectrum returns wavelengths in vacuum, ascending, and flux per wavelength. It may be called from many
	// goroutines.
	Spectrum(i int) (lam, flux []float64, err error)
	// ID returns the number of a spectrum in its catalogue.
	ID(i int) int
}

// Lambda returns the wavelengths of the pixels.
func (a Arm) Lambda(padding float64) ([]float64, error) {
	if !(a.First > 0 && a.First < a.Last) || math.IsInf(a.Last, 0) || !(a.Step > 0) || !(padding >= 0) || math.IsInf(padding, 0) {
		return nil, fmt.Errorf("build: %s: pixels of %g from %g to %g Angstrom, %g km/s beyond: want an ascending range", a.Name, a.Step, a.First, a.Last, padding)
	}
	if n := (a.Last - a.First) / a.Step; n > 1<<24 || n < 4 {
		return nil, fmt.Errorf("build: %s: pixels of %g Angstrom from %g to %g: %.3g of them, want 4 to 2^24", a.Name, a.Step, a.First, a.Last, n)
	}
	fac := 1 + padding/spectra.SpeedOfLight
	if a.Linear {
		first, last := a.First/fac, (a.Last+a.Step)*fac
		return steps(first, last, a.Step), nil
	}
	first, last, step := math.Log(a.First/fac), math.Log(a.Last*fac), math.Log(1+a.Step/((a.First+a.Last)/2))
	lam := steps(first, last, step)
	for i, x := range lam {
		lam[i] = math.Exp(x)
	}
	return lam, nil
}

// steps returns first, first+step and so on below last, rounded as numpy.arange does: a library of a thousand pixels
// is the same to the last digits.
func steps(first, last, step float64) []float64 {
	x := make([]float64, int(math.Ceil((last-first)/step)))
	step = first + step - first
	for i := range x {
		x[i] = first + float64(i)*step
	}
	return x
}

// Templates brings the spectra of a source to an arm: convolved to its resolution, integrated over its pixels,
// weighted by photons, normalised, as logarithms. It keeps the result and one spectrum for each thread.
func Templates(ctx context.Context, src Source, a Arm, s Settings) (*rvspecfit.Library, error) {
	if s.Normalise == "" {
		s.Normalise = LinearContinuum
	}
	if s.Native == 0 {
		s.Native = spectra.NativePower
	}
	if s.Padding == 0 {
		s.Padding = 1000
	}
	if s.Threads <= 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	if !slices.Contains([]Normalisation{LinearContinuum, Median, NoNormalisation}, s.Normalise) {
		return nil, fmt.Errorf("build: normalisation %q: want %s, %s or %s", s.Normalise, LinearContinuum, Median, NoNormalisation)
	}
	names, params := src.Params()
	if len(params) == 0 {
		return nil, errors.New("build: there are no spectra")
	}
	lam, err := a.Lambda(s.Padding)
	if err != nil {
		return nil, err
	}
	power, err := a.power(lam, s.Native)
	if err != nil {
		return nil, err
	}
	logs, err := logged(names, s.LogParams)
	if err != nil {
		return nil, err
	}
	bins := &rebinnings{out: lam, spread: spectra.LineSpread{Power: power, Native: s.Native}}
	rows, norms, faults := make([][]float64, len(params)), make([]float64, len(params)), make([]error, len(params))
	made := 0
	for lo := 0; lo < len(params); lo += s.Threads {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(s.Threads, len(params)-lo)
		parallel.Do(n, n, func(_, k int) {
			rows[lo+k], norms[lo+k], faults[lo+k] = template(src, lo+k, lam, bins, a, s)
		})
		for k := lo; k < lo+n; k++ {
			switch {
			case faults[k] == nil:
			case !s.SkipBad:
				return nil, fmt.Errorf("build: %s: spectrum %v: %w", a.Name, params[k], faults[k])
			case s.Note != nil:
				s.Note(fmt.Sprintf("%s: spectrum %v is left out: %v", a.Name, params[k], faults[k]))
			}
		}
		if made += n; s.Done != nil {
			s.Done(made, len(params))
		}
	}
	l := &rvspecfit.Library{Setup: a.Name, Lam: lam, LogStep: !a.Linear, LogSpec: true, ParNames: names, Mapper: rvspecfit.Mapper{Log: logs}, Revision: s.Revision, Command: s.Command}
	var points []float64
	var values []float64
	for i := range params {
		if faults[i] != nil {
			continue
		}
		points = append(points, params[i]...)
		values = append(values, rows[i]...)
		l.LogNorms = append(l.LogNorms, norms[i])
		l.FileIDs = append(l.FileIDs, src.ID(i))
	}
	if len(l.FileIDs) == 0 {
		return nil, fmt.Errorf("build: %s: none of %d spectra could be used: %w", a.Name, len(params), errors.Join(faults[0]))
	}
	return l, fill(l, points, values, s.Float64)
}

// fill sets points and spectra; points come as rows of templates and are kept as rows of parameters.
func fill(l *rvspecfit.Library, points, values []float64, wide bool) (err error) {
	n, dim := len(l.FileIDs), len(l.ParNames)
	turned := make([]float64, len(points))
	for i := range n {
		for k := range dim {
			turned[k*n+i] = points[i*dim+k]
		}
	}
	if l.Points, err = tensor.From(turned, dim, n); err != nil {
		return err
	}
	if wide {
		l.Spectra, err = tensor.From(values, n, len(l.Lam))
		return err
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	l.Spectra, err = tensor.From(narrow, n, len(l.Lam))
	return err
}

// logged returns the positions of the parameters whose logarithm is interpolated.
func logged(names, wanted []string) (list []int, err error) {
	if wanted == nil {
		if k := slices.Index(names, "teff"); k >= 0 {
			list = append(list, k)
		}
		return list, nil
	}
	for _, w := range wanted {
		k := slices.Index(names, w)
		if k < 0 {
			return nil, fmt.Errorf("build: the logarithm of %q: the parameters are %s", w, strings.Join(names, ", "))
		}
		list = append(list, k)
	}
	return list, nil
}

// power returns the resolving power at each pixel.
func (a Arm) power(lam []float64, native float64) (func(lam float64) float64, error) {
	e, err := parse(a.Power)
	if err != nil {
		return nil, fmt.Errorf("build: %s: the resolving power: %w", a.Name, err)
	}
	middle := (a.First + a.Last) / 2
	f := e
	if a.FixedFWHM {
		f = func(x float64) float64 { return e(middle) * x / middle }
	}
	for _, x := range lam {
		if r := f(x); !(r > 0) || !(r < native) {
			return nil, fmt.Errorf("build: %s: the resolving power %s at %g Angstrom is %g: want it above 0 and below that of the spectra, %g", a.Name, a.Power, x, r, native)
		}
	}
	return f, nil
}

// rebinnings keeps that of the last wavelengths: the spectra of a model grid mostly share theirs.
type rebinnings struct {
	out    []float64
	spread spectra.LineSpread

	mu   sync.Mutex
	in   []float64
	last *spectra.Rebinning
}

func (r *rebinnings) of(in []float64) (*spectra.Rebinning, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && slices.Equal(r.in, in) {
		return r.last, nil
	}
	b, err := spectra.NewRebinning(r.out, in, r.spread)
	if err == nil {
		r.last, r.in = b, slices.Clone(in)
	}
	return b, err
}

// template returns the logarithm of a normalised spectrum, and that of its normalisation.
func template(src Source, i int, lam []float64, bins *rebinnings, a Arm, s Settings) (row []float64, norm float64, err error) {
	in, flux, err := src.Spectrum(i)
	if err != nil {
		return nil, 0, err
	}
	if len(in) < 4 || len(in) != len(flux) {
		return nil, 0, fmt.Errorf("%d wavelengths and %d fluxes: want as many of each, and at least 4", len(in), len(flux))
	}
	if a.Air {
		air := make([]float64, len(in))
		for k, x := range in {
			air[k] = spectra.Air(x)
		}
		in = air
	}
	if in[0] > lam[0] || in[len(in)-1] < lam[len(lam)-1] {
		return nil, 0, fmt.Errorf("it has %g to %g Angstrom: the arm needs %g to %g", in[0], in[len(in)-1], lam[0], lam[len(lam)-1])
	}
	photons := make([]float64, len(flux))
	for k, v := range flux {
		photons[k] = v * in[k]
	}
	bin, err := bins.of(in)
	if err != nil {
		return nil, 0, err
	}
	row = bin.Apply(photons)
	for k := range row {
		row[k] /= lam[k]
		if !(row[k] > 0) || math.IsInf(row[k], 0) {
			return nil, 0, fmt.Errorf("the flux at %g Angstrom is %g: want it above 0", lam[k], row[k])
		}
	}
	middle := median(row)
	switch s.Normalise {
	case Median:
		norm = math.Log(middle)
		for k := range row {
			row[k] = math.Log(row[k]) - norm
		}
	case NoNormalisation:
		for k := range row {
			row[k] = math.Log(row[k])
		}
	default:
		half := len(row) / 2
		x1, y1 := median(lam[:half]), math.Log(median(row[:half]))
		x2, y2 := median(lam[half:]), math.Log(median(row[half:]))
		for k := range row {
			row[k] = math.Log(row[k]) - (y1 + (lam[k]-x1)*(y2-y1)/(x2-x1))
		}
		norm = math.Log(middle)
	}
	return row, norm, nil
}

func median(x []float64) float64 {
	v := slices.Clone(x)
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
