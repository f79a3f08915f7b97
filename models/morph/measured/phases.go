// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
	"github.com/euryale-dev/euryale/sim/rsoxs/phasing"
	"github.com/euryale-dev/euryale/tensor"
)

// Phases are measured patterns on the grid of q that belongs to a flat box of voxels, from which projections find its volume fractions without
// a start.
type Phases struct {
	Problem phasing.Problem
	Shape   [2]int  // number of voxels along Y and X
	Voxel   float64 // edge of a voxel in nm
	// Titles say the energy and the angle of the field of each pattern.
	Titles []string
	// Read says in one line per file what was read, with notes on what was assumed.
	Read []string
	// Measured is the share of the cells of the grid that hold pixels.
	Measured float64
	// Findings say in sentences what of the data keeps a result from being determined.
	Findings []string
}

// heldForPhases are the parameters of the measurement that can be held at a value.
var heldForPhases = []string{"log_scale", "background", "dark", "centre_x", "centre_y", "distance", "rot1", "rot2", "rot3", "purity"}

// leastMeasured is the share of cells with pixels below which voxels are said to be finer than the data.
const leastMeasured = 0.5

// OpenPhases reads the files of a problem of the method phase. Counts of all exposures are added up in the cells of the grid, less dark counts
// and background, and divided by the flux, the transmission, the solid angle and the polarisation factor. Without centre_x and centre_y in
// fixed, the foot of the beam is that of the symmetry of the patterns; without log_scale, volume fractions are known up to a factor.
func OpenPhases(p *morph.Problem, folder string) (*Phases, error) {
	t := &Task{Fixed: maps.Clone(p.Fixed), bin: p.Bin}
	groups, err := t.read(p, folder)
	if err != nil {
		return nil, plain(err)
	}
	d := groups[0].data
	if d.Fan != nil || slices.ContainsFunc(d.Frames, func(f Frame) bool { return f.Bins != nil }) {
		return nil, fmt.Errorf("measured: method is phase, and %s holds reduced numbers: it needs images of a detector", p.Data)
	}
	t.Model = modelOf(p, d)
	t.Model.SolidAngle = groups[0].reading.SolidAngle
	if err := t.constants(p, folder); err != nil {
		return nil, plain(err)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Fixed)) {
		if !slices.Contains(heldForPhases, name) && !slices.Contains(t.Model.Morphology, name) {
			return nil, fmt.Errorf("measured: method is phase, and %s is fixed: of the measurement it knows %s; give what the sample transmits with \"transmission\"", name, strings.Join(heldForPhases, ", "))
		}
	}
	contrasts, err := t.isotropicContrasts()
	if err != nil {
		return nil, err
	}
	t.findFoot()
	g := &gathering{Task: t, d: d, n: [2]int{p.Grid.Shape[1], p.Grid.Shape[2]}, voxel: p.Grid.Voxel}
	out := &Phases{Shape: g.n, Voxel: p.Grid.Voxel, Problem: phasing.Problem{Shape: g.n, Fields: 1, Support: p.Support()}}
	if err := g.layOut(); err != nil {
		return nil, err
	}
	for _, l := range g.lights() {
		pattern := phasing.Pattern{Intensity: g.gathered(l), Components: [][]complex128{{contrasts[l.energy]}}}
		out.Problem.Patterns, out.Titles = append(out.Problem.Patterns, pattern), append(out.Titles, fmt.Sprintf("%g eV, %g degrees", l.energy, l.angle))
	}
	if !(g.total > 0) {
		return nil, fmt.Errorf("measured: no count of the %d cells of the grid that hold pixels is above dark counts and background (%g and %g counts/s): check the data, and \"background\" and \"dark\" in fixed", g.filled, g.held("dark", d.Frames[0].Dark), g.held("background", 0))
	}
	_, known := p.Fixed["log_scale"]
	out.Problem.Unlimited = !known
	out.Problem.Noise = math.Sqrt(g.noise / max(g.total, 1e-300))
	out.Measured = float64(g.filled) / float64(g.cells)
	if out.Measured < leastMeasured {
		out.Findings = append(out.Findings, fmt.Sprintf("%.0f %% of the cells of the grid hold pixels: voxels of %g nm ask for q to %.3g 1/nm, and pixels reach %.3g; voxels of %.3g nm would be those of the data", 100*out.Measured, g.voxel, math.Pi/g.voxel, g.reach, math.Pi/g.reach))
	}
	out.Read = t.Read
	return out, nil
}

// isotropicContrasts returns the contrast of the one material by energy.
func (t *Task) isotropicContrasts() (map[float64]complex128, error) {
	tables := append(slices.Clone(t.Model.Tables), matrixOf(t.Model)...)
	if len(t.Model.Tables) != 1 {
		return nil, fmt.Errorf("measured: method is phase, and %d materials have constants beside the matrix: it finds the volume fraction of one", len(t.Model.Tables))
	}
	out := map[float64]complex128{}
	for _, e := range t.Model.Data.energies() {
		var list []rsoxs.Constants
		for i, table := range tables {
			c, err := table.at(t.Model.material(i), e, nil)
			if err != nil {
				return nil, err
			}
			v, err := ad.Numbers(c)
			if err != nil {
				return nil, err
			}
			x := v[0] // DeltaPara, BetaPara, DeltaPerp, BetaPerp
			if x[0] != x[2] || x[1] != x[3] {
				return nil, fmt.Errorf("measured: method is phase, and the constants of %s at %g eV differ along and across the director: it finds isotropic voxels", t.Model.material(i), e)
			}
			list = append(list, rsoxs.Constants{DeltaPara: x[0], BetaPara: x[1], DeltaPerp: x[2], BetaPerp: x[3]})
		}
		if out[e] = morph.Contrast(list, t.Model.Matrix != nil); out[e] == 0 {
			return nil, fmt.Errorf("measured: material and matrix have the same constants at %g eV: there is nothing to see", e)
		}
	}
	return out, nil
}

// findFoot takes the foot of the beam from the symmetry of the patterns, where the problem does not hold it.
func (t *Task) findFoot() {
	if t.Fixed == nil {
		t.Fixed = map[string]float64{}
	}
	foot := (&guess{Data: t.Model.Data, numbering: t.energies()}).centre()
	told := ""
	for i, name := range []string{"centre_x", "centre_y"} {
		if _, held := t.Fixed[name]; !held {
			t.Fixed[name] = foot[i]
			told += fmt.Sprintf(", %s %.2f", name, foot[i])
		}
	}
	if told != "" {
		t.Read = append(t.Read, "  the foot of the beam is that of the symmetry of the patterns: "+told[2:]+" pixels from that of the file")
	}
}

// gathering adds the pixels of patterns up in the cells of a grid of q.
type gathering struct {
	*Task
	d     *Data
	n     [2]int
	voxel float64 // nm
	split int     // parts of a pixel along each side, each of which is in the cell of its centre
	// x and y are the directions of the parts of pixels across the beam, pixel by pixel, and solid the solid angles of pixels.
	x, y, solid   []float64
	filled, cells int     // cells with pixels, and all
	reach         float64 // largest q along an axis in 1/nm
	noise, total  float64 // variances of magnitudes by counting, and intensities, summed over the cells
}

// seenAt are the frames of one energy and one angle of the field.
type seenAt struct{ energy, angle float64 }

func (g *gathering) lights() (list []seenAt) {
	for _, f := range g.d.Frames {
		if l := (seenAt{f.Energy, f.Angle}); !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// held returns the value of a parameter that the problem holds, or what it is without.
func (g *gathering) held(name string, usual float64) float64 {
	if x, ok := g.Fixed[name]; ok {
		return x
	}
	return usual
}

// step returns the steps of the grid along y and x in 1/nm.
func (g *gathering) step() [2]float64 {
	return [2]float64{2 * math.Pi / (float64(g.n[0]) * g.voxel), 2 * math.Pi / (float64(g.n[1]) * g.voxel)}
}

// mostParts is the number of parts of a pixel along each side where pixels are as wide as cells.
const mostParts = 3

// layOut finds where the pixels look. It returns an error if they are wider than the cells of the grid.
func (g *gathering) layOut() error {
	det, geo, step := g.d.Detector, g.d.Geometry, g.step()
	k := 0.0
	for _, f := range g.d.Frames {
		k = max(k, rsoxs.Wavenumber(f.Energy))
	}
	distance := g.held("distance", geo.Distance)
	for i, pixel := range []float64{det.PixelY, det.PixelX} {
		wide := k * pixel / distance
		if wide > 1.01*step[i] {
			return fmt.Errorf("measured: a pixel is %.3g 1/nm wide along %s, and a cell of the grid 2 pi/(%d x %g nm) = %.3g 1/nm: want cells that hold a pixel; make the grid smaller, or \"bin\"", wide, string("yx"[i]), g.n[i], g.voxel, step[i])
		}
		g.split = max(g.split, min(mostParts, int(math.Ceil(float64(mostParts)*2*wide/step[i]))))
	}
	pose := farfield.Pose{Distance: ad.Scalar(distance), PoniY: ad.Scalar(geo.PoniY + det.PixelY*g.held("centre_y", 0)), PoniX: ad.Scalar(geo.PoniX + det.PixelX*g.held("centre_x", 0)),
		Rot1: ad.Scalar(g.held("rot1", geo.Rot1)), Rot2: ad.Scalar(g.held("rot2", geo.Rot2)), Rot3: ad.Scalar(g.held("rot3", geo.Rot3))}
	var y, x []float64
	for i := range det.Rows * det.Columns {
		for s := range g.split * g.split {
			part := func(s int) float64 { return (float64(s) + 0.5) / float64(g.split) }
			y, x = append(y, (float64(i/det.Columns)+part(s/g.split))*det.PixelY), append(x, (float64(i%det.Columns)+part(s%g.split))*det.PixelX)
		}
	}
	to := farfield.DirectionsTo(ad.Const(y), ad.Const(x), pose)
	v, err := ad.Numbers(to.X, to.Y, det.Directions(pose).SolidAngle)
	if err != nil {
		return err
	}
	g.x, g.y, g.solid = v[0], v[1], v[2]
	return nil
}

// gathered returns the intensities |contrast F|^2 in the cells, with q = 0 in the middle, NaN where no pixel counts.
func (g *gathering) gathered(l seenAt) []float64 {
	k, step, cells := rsoxs.Wavenumber(l.energy), g.step(), g.n[0]*g.n[1]
	sum, weight, variance := make([]float64, cells), make([]float64, cells), make([]float64, cells)
	parts := g.split * g.split
	for i := range g.d.Frames {
		f := &g.d.Frames[i]
		if f.Energy != l.energy || f.Angle != l.angle {
			continue
		}
		for pixel, count := range f.Counts {
			if count != count || g.d.Keep != nil && !g.d.Keep[pixel] {
				continue
			}
			gain, off := g.gain(f, pixel)
			for s := pixel * parts; s < (pixel+1)*parts; s++ {
				row, column := int(math.Round(k*g.y[s]/step[0]))+g.n[0]/2, int(math.Round(k*g.x[s]/step[1]))+g.n[1]/2
				g.reach = max(g.reach, k*math.Abs(g.x[s]), k*math.Abs(g.y[s]))
				if row < 0 || row >= g.n[0] || column < 0 || column >= g.n[1] {
					continue
				}
				c := row*g.n[1] + column
				sum[c] += (count - off) / float64(parts)
				weight[c] += gain * g.factor(k, l.angle, g.x[s], g.y[s]) / float64(parts)
				variance[c] += max(count, 0) / float64(parts)
			}
		}
	}
	out := make([]float64, cells)
	for c := range out {
		g.cells++
		if weight[c] == 0 {
			out[c] = math.NaN()
			continue
		}
		out[c] = max(0, sum[c]/weight[c])
		spread := variance[c] / (weight[c] * weight[c])
		g.filled++
		g.total += out[c]
		g.noise += spread / (4 * max(out[c], math.Sqrt(spread), 1e-300))
	}
	return out
}

// gain returns what the intensity at a pixel is multiplied with, without its polarisation factor, and what is added to it.
func (g *gathering) gain(f *Frame, pixel int) (gain, off float64) {
	exposed := at(f.Gains, pixel, f.Exposure)
	light := exposed * one(f.Flux)
	if g.Model.SolidAngle {
		light *= g.solid[pixel]
	}
	through := light * one(f.Transmission)
	return through * math.Exp(g.held("log_scale", 0)), at(f.Offsets, pixel, 0) + exposed*g.held("dark", f.Dark) + through*g.held("background", 0)
}

// factor is |k^2 e - kappa (kappa . e)|^2 for the field e at an angle in degrees, averaged over what is polarised across it.
func (g *gathering) factor(k, angle, x, y float64) float64 {
	sin, cos := math.Sincos(angle * math.Pi / 180)
	along, across := x*cos+y*sin, y*cos-x*sin
	p := g.held("purity", 1)
	return k * k * k * k * (p*(1-along*along) + (1-p)*(1-across*across))
}

// Resolution returns the size in nm of the smallest details on whose phases the starts of a result agree.
func (p *Phases) Resolution(r *phasing.Result) float64 {
	n := min(p.Shape[0], p.Shape[1])
	rings := len(r.Transfer) - 1
	for ring := 1; ring <= rings; ring++ {
		if r.Transfer[ring] < phasing.Agreeing {
			rings = ring
			break
		}
	}
	return float64(n) * p.Voxel / float64(max(rings, 1))
}

// Dataset returns a result as arrays that xarray reads: the volume fractions of the best start, and the mean and standard deviation of those
// that agree, by y and x in nm; and the phase retrieval transfer function by q in 1/nm.
func (p *Phases) Dataset(r *phasing.Result) (*tensor.Dataset, error) {
	d := tensor.NewDataset("voxels")
	along := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = (float64(i) - float64(n)/2) * p.Voxel
		}
		return x
	}
	q := make([]float64, len(r.Transfer))
	for i := range q {
		q[i] = 2 * math.Pi * float64(i) / (float64(min(p.Shape[0], p.Shape[1])) * p.Voxel)
	}
	for _, c := range []struct {
		name, unit string
		data       []float64
	}{{"y", "nm", along(p.Shape[0])}, {"x", "nm", along(p.Shape[1])}, {"q", "1/nm", q}} {
		if err := d.AddCoordVariable(tensor.Variable{Name: c.name, Dims: []string{c.name}, Shape: []int{len(c.data)}, Data: c.data, Attrs: map[string]string{"units": c.unit}}); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		name string
		data []float64
	}{{"best", r.Best[0]}, {"mean", r.Mean[0]}, {"sd", r.Spread[0]}} {
		if err := d.Add(f.name, f.data, p.Shape[:], "y", "x"); err != nil {
			return nil, err
		}
	}
	return d, d.Add("transfer", r.Transfer, []int{len(q)}, "q")
}
