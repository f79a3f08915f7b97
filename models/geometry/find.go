// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// FindSettings say how points of rings are found. The zero value is the default.
type FindSettings struct {
	Sectors int // number of azimuths at which each ring is sought. Default 72
	// Window is how far from its expected radius a ring may be (pixels). 0 stands for 45 % of the distance to the
	// next ring, and at most 25 pixels.
	Window float64
	// Significance is the smallest height of a ring above its surroundings, in standard deviations.
	// Default 8.
	Significance float64
}

func (s FindSettings) complete() (FindSettings, error) {
	if s.Sectors == 0 {
		s.Sectors = 72
	}
	if s.Significance == 0 {
		s.Significance = 8
	}
	if s.Sectors < 4 || s.Sectors > 3600 || !(s.Window >= 0) || !(s.Significance > 0) {
		return s, fmt.Errorf("geometry: there are %d sectors, a window of %g pixels and a significance of %g: want 4 to 3600 sectors and positive numbers", s.Sectors, s.Window, s.Significance)
	}
	return s, nil
}

// profileBins is the number of radii in the profile of a ring at one azimuth.
const profileBins = 24

// FindRings finds the radial maxima of rings of known q (1/angstrom), at azimuths all around the beam. Expected radii are those of the
// geometry, which must be right within the window. A Gaussian peak on a sloping background is fitted to the radial
// profile of each sector; its error comes from the scatter of all profiles of the ring about theirs.
func FindRings(ctx context.Context, image []float64, m *mask.Mask, g xpcs.Geometry, q []float64, s FindSettings) ([]Point, error) {
	if err := given.Args("geometry.FindRings", "ctx", ctx, "m", m); err != nil {
		return nil, err
	}
	s, err := s.complete()
	if err != nil {
		return nil, err
	}
	if err := checkImage(image, m, g, q); err != nil {
		return nil, err
	}
	rays, err := expected(g, q, s.Sectors)
	if err != nil {
		return nil, err
	}
	row, col := g.DisplayCenter()
	var out []Point
	for k := range q {
		ring := collect(image, m, row, col, rays, k, s)
		found, err := ring.peaks(ctx, s)
		if err != nil {
			return nil, err
		}
		if closer := ring.closer(found); closer > 0 {
			near := s
			near.Window = closer
			ring = collect(image, m, row, col, at(rays, k, found), k, near)
			again, err := ring.peaks(ctx, near)
			if err != nil {
				return nil, err
			}
			if 5*len(again) >= 4*len(found) {
				found = again
			}
		}
		for _, f := range found {
			sin, cos := math.Sincos(ring.angle(f.sector))
			out = append(out, Point{Row: row - f.radius*sin, Col: col + f.radius*cos, Q: q[k], SD: f.sd})
		}
	}
	return out, nil
}

// closer returns the window in which a ring is fitted again because the bins of its profiles are too wide for its peaks, or 0 if they
// are not, or if narrower bins would have too few pixels.
func (r *ring) closer(found []peak) float64 {
	var widths, windows, radii []float64
	for _, f := range found {
		widths, windows, radii = append(widths, f.width), append(windows, r.window[f.sector]), append(radii, f.radius)
	}
	if len(found) == 0 {
		return 0
	}
	arc := 2 * math.Pi / float64(r.sectors) * middle(radii)
	w := math.Max(8*middle(widths), profileBins/2*1.5/arc) // some 1.5 pixels in a bin
	if wide := middle(windows); w < 0.8*wide && 2*wide/profileBins > 0.7*middle(widths) {
		return w
	}
	return 0
}

// at returns the rays with ring k where it was found, and nowhere in other sectors.
func at(rays [][]float64, k int, found []peak) [][]float64 {
	out := make([][]float64, len(rays))
	for i, ray := range rays {
		out[i] = slices.Clone(ray)
		out[i][k] = math.NaN()
	}
	for _, f := range found {
		out[f.sector][k] = f.radius
	}
	return out
}

func checkImage(image []float64, m *mask.Mask, g xpcs.Geometry, q []float64) error {
	switch {
	case g.Reflection:
		return fmt.Errorf("geometry: rings cannot be fitted in reflection: calibrate in transmission")
	case m.Height != g.Height || m.Width != g.Width || len(image) != g.Height*g.Width || len(m.Keep) != len(image):
		return fmt.Errorf("geometry: the image has %s, the mask %d x %d and the geometry %d x %d: use those of one detector", errtext.Count(len(image), "pixel"), m.Height, m.Width, g.Height, g.Width)
	case len(q) == 0 || len(q) > 1000 || !slices.IsSorted(q) || !(q[0] > 0) || math.IsInf(q[len(q)-1], 0):
		return fmt.Errorf("geometry: the list of %s cannot be used: want 1 to 1000 positive q in ascending order", errtext.Count(len(q), "ring position"))
	}
	return nil
}

// expected returns the radius of each ring along each ray from the beam, in pixels; NaN beyond the detector's reach.
func expected(g xpcs.Geometry, q []float64, sectors int) ([][]float64, error) {
	row, col := g.DisplayCenter()
	reach := 0.0
	for _, r := range []float64{0, float64(g.Height - 1)} {
		for _, c := range []float64{0, float64(g.Width - 1)} {
			reach = math.Max(reach, math.Hypot(r-row, c-col))
		}
	}
	const steps = 512
	n := sectors * steps
	rows, cols := make([]float64, n), make([]float64, n)
	radius := func(k int) float64 { return reach * float64(k) / (steps - 1) }
	for i := range n {
		sin, cos := math.Sincos(sectorAngle(i/steps, sectors))
		rows[i], cols[i] = row-radius(i%steps)*sin, col+radius(i%steps)*cos
	}
	prog, err := ad.Compile([]*ad.Node{g.Node("q", ad.Const(rows, n), ad.Const(cols, n), xpcs.Parameters{})}, ad.Settings{})
	if err != nil {
		return nil, err
	}
	st := prog.NewState()
	if err := st.Run(); err != nil {
		return nil, err
	}
	along := st.Output(0)
	out := make([][]float64, sectors)
	for s := range out {
		ray := along[s*steps : (s+1)*steps]
		for _, v := range q {
			k := 1
			for k < steps && ray[k] < v {
				k++
			}
			r := math.NaN()
			if k < steps && ray[k] > ray[k-1] {
				r = radius(k-1) + (v-ray[k-1])/(ray[k]-ray[k-1])*(radius(k)-radius(k-1))
			}
			out[s] = append(out[s], r)
		}
	}
	return out, nil
}

func sectorAngle(s, sectors int) float64 { return 2 * math.Pi * (float64(s) + 0.5) / float64(sectors) }

// ring holds the radial profiles of one ring.
type ring struct {
	sectors               int
	middle, window        []float64 // of each sector (pixels)
	count, radius, height []float64 // of each bin of each sector: pixels, mean radius about middle, mean intensity
}

func (r *ring) angle(sector int) float64 { return sectorAngle(sector, r.sectors) }

// collect sums the pixels near a ring into the bins of its profiles.
func collect(image []float64, m *mask.Mask, row, col float64, rays [][]float64, k int, s FindSettings) *ring {
	n := s.Sectors * profileBins
	r := &ring{sectors: s.Sectors, middle: make([]float64, s.Sectors), window: make([]float64, s.Sectors),
		count: make([]float64, n), radius: make([]float64, n), height: make([]float64, n)}
	for i, ray := range rays {
		r.middle[i], r.window[i] = ray[k], window(ray, k, s.Window)
	}
	for i, v := range image {
		if !m.Keep[i] || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		y, x := row-float64(i/m.Width), float64(i%m.Width)-col
		angle := math.Atan2(y, x)
		if angle < 0 {
			angle += 2 * math.Pi
		}
		sector := min(int(angle/(2*math.Pi)*float64(s.Sectors)), s.Sectors-1)
		off := math.Hypot(x, y) - r.middle[sector]
		if w := r.window[sector]; math.Abs(off) < w {
			b := sector*profileBins + min(int((off+w)/(2*w)*profileBins), profileBins-1)
			r.count[b]++
			r.radius[b] += off
			r.height[b] += v
		}
	}
	for b, c := range r.count {
		if c > 0 {
			r.radius[b], r.height[b] = r.radius[b]/c, r.height[b]/c
		}
	}
	return r
}

// window returns how far ring k may be from its place on a ray.
func window(ray []float64, k int, given float64) float64 {
	gap := ray[k]
	if k > 0 {
		gap = math.Min(gap, ray[k]-ray[k-1])
	}
	if k+1 < len(ray) && !math.IsNaN(ray[k+1]) {
		gap = math.Min(gap, ray[k+1]-ray[k])
	}
	w := math.Min(0.45*gap, 25)
	if given > 0 {
		w = math.Min(given, 0.9*gap)
	}
	return w
}

// peak is a ring found in one sector.
type peak struct {
	sector            int
	radius, sd, width float64 // pixels
}

// peaks fits all profiles side by side.
func (r *ring) peaks(ctx context.Context, s FindSettings) ([]peak, error) {
	in := func(name string) *ad.Node { return ad.Input(name) }
	height, position, width, base, slope := in("height"), in("position"), in("log width"), in("base"), in("slope")
	x, y := ad.Input("x", profileBins), ad.Input("y", profileBins)
	u := ad.Mul(ad.Sub(x, position), ad.Exp(ad.Neg(width)))
	model := ad.Add(ad.Add(base, ad.Mul(slope, x)), ad.Mul(height, ad.Exp(ad.Scale(-0.5, ad.Square(u)))))
	batch, err := optim.NewBatch(ad.Sub(model, y), []*ad.Node{height, position, width, base, slope}, x, y)
	if err != nil {
		return nil, err
	}
	var rows optim.Rows
	var which []int
	var pixels []float64 // of each bin
	rows.Columns = make([][]float64, 2)
	for sector := range r.sectors {
		xs, ys, weights, start := r.profile(sector)
		if start == nil {
			continue
		}
		which = append(which, sector)
		pixels = append(pixels, r.count[sector*profileBins:(sector+1)*profileBins]...)
		rows.Columns[0], rows.Columns[1] = append(rows.Columns[0], xs...), append(rows.Columns[1], ys...)
		rows.Weights, rows.Start = append(rows.Weights, weights...), append(rows.Start, start...)
	}
	if which == nil {
		return nil, nil
	}
	fits, err := batch.Fit(ctx, rows, optim.BatchSettings{})
	if err != nil {
		return nil, err
	}
	for range reweighings {
		if !reweigh(rows, pixels, fits) {
			break
		}
		if fits, err = batch.Fit(ctx, rows, optim.BatchSettings{}); err != nil {
			return nil, err
		}
	}
	return r.choose(fits, which, s), nil
}

// usual says of each profile whether its fit is as good as those of others: not spoiled by a hot pixel or an edge.
func usual(fits *optim.BatchResult) []bool {
	var all []float64
	reduced, good := make([]float64, len(fits.Status)), make([]bool, len(fits.Status))
	for i, status := range fits.Status {
		reduced[i] = fits.ChiSquared[i] / math.Max(float64(fits.Points[i]-5), 1)
		if status.Converged() {
			all = append(all, reduced[i])
		}
	}
	limit := 3 * middle(all)
	for i, status := range fits.Status {
		good[i] = status.Converged() && reduced[i] < limit
	}
	return good
}

// profile returns one profile with the weights of its bins and the start of its fit, or no start if too little is left of it.
func (r *ring) profile(sector int) (x, y, weights, start []float64) {
	at := sector * profileBins
	x, y, n := r.radius[at:at+profileBins], r.height[at:at+profileBins], r.count[at:at+profileBins]
	w := r.window[sector]
	var some []float64
	best, top := 0.0, math.Inf(-1)
	weights = make([]float64, profileBins)
	least := 0.0 // variance of a pixel in the dark, where counts do not show it
	for b := range x {
		least += 0.1 / profileBins * math.Abs(y[b])
	}
	for b := range x {
		if n[b] == 0 {
			continue
		}
		some = append(some, y[b])
		var sum, count float64
		for c := max(b-1, 0); c <= min(b+1, profileBins-1); c++ {
			sum, count = sum+n[c]*y[c], count+n[c]
		}
		if mean := sum / count; mean > top {
			best, top = x[b], mean
		}
		weights[b] = math.Sqrt(n[b] / math.Max(sum/count, least)) // counts scatter with the root of their mean
	}
	if len(some) < profileBins*2/3 {
		return x, y, weights, nil
	}
	slices.Sort(some)
	low := some[len(some)/4]
	if !(top > low) || !(least > 0) {
		return x, y, weights, nil
	}
	return x, y, weights, []float64{top - low, best, math.Log(w / 5), low, 0}
}

// choose returns the fits that show a peak.
func (r *ring) choose(fits *optim.BatchResult, which []int, s FindSettings) (out []peak) {
	good := usual(fits)
	chi, free := 0.0, 0.0
	for i, ok := range good {
		if ok {
			chi, free = chi+fits.ChiSquared[i], free+float64(fits.Points[i]-5)
		}
	}
	scale := math.Sqrt(chi / math.Max(free, 1))
	for i, sector := range which {
		x, sd, w := fits.Row(i), fits.SDs(i), r.window[sector]
		width := math.Exp(x[2])
		ok := good[i] && x[0] > s.Significance*scale*sd[0] && math.Abs(x[1]) < 0.8*w &&
			width > 0.3 && width < 0.7*w && sd[1]*scale > 0 && sd[1]*scale < width/2
		if ok {
			out = append(out, peak{sector, r.middle[sector] + x[1], sd[1] * scale, width})
		}
	}
	return out
}
