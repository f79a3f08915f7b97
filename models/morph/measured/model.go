// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// Model predicts the counts of a measurement.
type Model struct {
	Data *Data
	Grid morph.Grid
	// Scene makes the morphology of parameters, without a matrix: what its materials leave has the optical constants of Matrix.
	Scene func(at morph.Values) morph.Scene
	// Boxes makes several in place of Scene, whose intensities are averaged; nil for one.
	Boxes func(at morph.Values) []morph.Scene
	// Closed makes the closed form of parameters in place of Scene, for pixels up to a q in 1/nm; nil for voxels.
	Closed func(at morph.Values, q float64) morph.ClosedForm
	// Whole makes the closed form of a morphology whose voxels end at the faces of a box, in place of Scene; nil without one. Verdicts try it.
	Whole func(at morph.Values, q float64) morph.ClosedForm
	// Wider makes the closed form of bodies whose sizes spread by the parameter Spread, from those of Morphology and it, where Closed has one
	// size; Ensemble is the model that a problem names for it. Verdicts try it.
	Wider            func(at morph.Values, q float64) morph.ClosedForm
	Spread, Ensemble string
	// Morphology lists the parameters of Scene, and Width is that of its edges in nm if they are not searched for.
	Morphology []string
	Width      float64
	// Lengths lists those parameters of the morphology that are sizes or distances, of which FitBest tries other values.
	Lengths []string
	// Tables holds the constants of the materials of Scene in their order, Matrix those of what surrounds them; nil is vacuum.
	Tables []Table
	Matrix *Table
	// Names are names of the materials for messages, the matrix last; those that are missing are numbers.
	Names []string
	// SolidAngle says that the counts hold the solid angle of the pixels, as raw counts do.
	SolidAngle bool
	// Tolerance is the error of amplitudes relative to the largest. Default 3e-5.
	Tolerance float64
	// Suffix is what the names of this measurement's own parameters end with, such as centre_x@2; those without it are shared.
	Suffix string
	// Numbering lists the photon energies in eV by the numbers that names of parameters have. Default: those of the data.
	Numbering []float64
	// Reach is how far the pixels may move, in pixels, as the centre and the distance are searched for. Default 6.
	Reach float64
}

// usualTolerance is the error of amplitudes relative to the largest: it moves parameters by about 0.01 standard deviations of 50,000 pixels
// with 1000 counts in the brightest, which each fit tells.
const usualTolerance = 3e-5

// light is what the frames of one energy share.
type light struct {
	energy      float64
	number      int // of the energy in names of parameters, from 1
	direction   farfield.Directions
	k           *ad.Node
	contrasts   []farfield.Contrast
	absorption  *ad.Node // 4 pi beta/lambda of the matrix in 1/nm
	intensities map[float64]*ad.Node
}

// pass computes the frames of a model at parameters.
type pass struct {
	*Model
	at       morph.Values
	detector farfield.Detector // padded for the blur
	volume   *farfield.Volume
	fields   [][]*farfield.Fields // of the materials of each box
	lights   []*light
	taps     int        // of the blur to each side
	averages []*ad.Node // matrices of the averages over pixels that were added up, by which an image is multiplied; nil until they are needed
	blur     []*ad.Node // its matrices, by which an image is multiplied from the left and from the right; nil until they are needed

	closed morph.ClosedForm // in place of volume and fields
}

// value returns the Node of a parameter, or nil. A measurement's own comes before one that all share.
func (p *pass) value(name string) *ad.Node {
	if p.Suffix != "" {
		if x := p.at(name + p.Suffix); x != nil {
			return x
		}
	}
	return p.at(name)
}

// or returns the Node of a parameter, or a constant if the problem leaves it out.
func (p *pass) or(name string, usual float64) *ad.Node {
	if x := p.value(name); x != nil {
		return x
	}
	return ad.Scalar(usual)
}

// Rates returns the expectations of the numbers of all frames, as one vector, frame by frame: the counts of pixels row by row, or of bins.
// start holds the values at which the grid of q is laid out.
//
// Gradient: with respect to all parameters.
func (m *Model) Rates(at morph.Values, start func(name string) (float64, bool)) (*ad.Node, error) {
	sights, of := m.Data.sights(0)
	rates, _, err := m.sightRates(at, start)
	if err != nil {
		return nil, err
	}
	var all []*ad.Node
	for i := range m.Data.Frames {
		f := &m.Data.Frames[i]
		from := sights[of[i]].from
		x := ad.Slice(rates, 0, from, from+m.Data.length(f))
		if f.Gains != nil {
			x = ad.Mul(x, ad.Const(f.Gains))
		} else {
			x = ad.Scale(f.Exposure, x)
		}
		all = append(all, x)
	}
	out := ad.Concat(0, all...)
	return out, out.Err()
}

// sightRates returns the numbers of all sights, one after another: counts per second of pixels or means of them. scatter are the variances
// that counting gives to those that are contrasts, up to a factor, and 1 for others.
func (m *Model) sightRates(at morph.Values, start func(name string) (float64, bool)) (rates, scatter *ad.Node, err error) {
	if err := m.Data.check(); err != nil {
		return nil, nil, err
	}
	p, err := m.pass(at, func(name string) (float64, bool) {
		if x, ok := start(name + m.Suffix); ok {
			return x, ok
		}
		return start(name)
	})
	if err != nil {
		return nil, nil, err
	}
	sights, _ := m.Data.sights(0)
	images := map[sightOfPixels]*ad.Node{} // bins of several kinds may follow from the same pixels
	var all, variances []*ad.Node
	for _, s := range sights {
		f := s.frame
		image := func(angle float64) *ad.Node {
			key := sightOfPixels{f.Energy, angle, f.Flux, f.Transmission, f.Dark}
			if images[key] == nil {
				turned := *f
				turned.Angle = angle
				images[key] = p.frame(&turned)
			}
			return images[key]
		}
		x, variance := image(f.Angle), (*ad.Node)(nil)
		if f.Bins != nil {
			x, variance = f.Bins.of(x), f.Bins.scatter(x, m.Data.Fan != nil)
			for _, also := range f.Bins.Also {
				y := image(also.Angle)
				x, variance = ad.Add(x, also.Bins.of(y)), ad.Add(variance, also.Bins.scatter(y, m.Data.Fan != nil))
			}
			x = ad.Scale(1/float64(1+len(f.Bins.Also)), x)
		}
		if variance == nil {
			variance = ad.Full(1, x.Size())
		}
		all, variances = append(all, x), append(variances, variance)
	}
	rates, scatter = ad.Concat(0, all...), ad.Concat(0, variances...)
	return rates, scatter, rates.Err()
}

// sightOfPixels is what an image depends on beside the parameters.
type sightOfPixels struct{ energy, angle, flux, transmission, dark float64 }

func (m *Model) pass(at morph.Values, start func(name string) (float64, bool)) (*pass, error) {
	p := &pass{Model: m, at: at, detector: m.Data.Detector}
	if p.value("resolution") != nil && m.Data.Fan == nil {
		sd, _ := start("resolution")
		p.taps = max(6, int(math.Ceil(8*sd)))
		p.detector.Pad = p.taps
	}
	if err := p.illuminate(); err != nil {
		return nil, err
	}
	if err := p.layOut(start); err != nil {
		return nil, err
	}
	if m.Closed != nil {
		return p, p.materials(p.closed.Materials)
	}
	for _, scene := range m.scenes(at) {
		if err := p.materials(len(scene.Materials)); err != nil {
			return nil, err
		}
		var fields []*farfield.Fields
		for i, x := range scene.Materials {
			f, err := p.volume.Twisted(x, p.twist(i))
			if err != nil {
				return nil, err
			}
			fields = append(fields, f)
		}
		p.fields = append(p.fields, fields)
	}
	return p, nil
}

// scenes returns the objects whose intensities are averaged.
func (m *Model) scenes(at morph.Values) []morph.Scene {
	if m.Boxes != nil {
		return m.Boxes(at)
	}
	return []morph.Scene{m.Scene(at)}
}

// pose returns where the detector stands: centre_x and centre_y are the pixels by which the beam's foot is off.
func (p *pass) pose() farfield.Pose {
	g, d := p.Data.Geometry, p.Data.Detector
	off := func(name string, nominal, pixel float64) *ad.Node {
		if x := p.value(name); x != nil {
			return ad.Shift(ad.Scale(pixel, x), nominal)
		}
		return ad.Scalar(nominal)
	}
	return farfield.Pose{Distance: p.or("distance", g.Distance), PoniY: off("centre_y", g.PoniY, d.PixelY), PoniX: off("centre_x", g.PoniX, d.PixelX),
		Rot1: p.or("rot1", g.Rot1), Rot2: p.or("rot2", g.Rot2), Rot3: p.or("rot3", g.Rot3)}
}

// illuminate finds the energies and what depends on them.
func (p *pass) illuminate() error {
	shift := p.value("energy_shift")
	for _, f := range p.Data.Frames {
		if p.lightAt(f.Energy) >= 0 {
			continue
		}
		l := &light{energy: f.Energy, number: p.numberOf(f.Energy), k: ad.Scalar(rsoxs.Wavenumber(f.Energy))}
		l.direction = p.towards(l)
		if shift != nil {
			l.k = ad.Scale(rsoxs.Wavenumber(1), ad.Shift(shift, f.Energy))
		}
		var around *farfield.Contrast
		if p.Matrix != nil {
			c, err := p.Matrix.at(p.material(len(p.Tables)), f.Energy, shift)
			if err != nil {
				return err
			}
			c = p.corrected(c, len(p.Tables), l.number-1)
			t := farfield.Tensor(c)
			around, l.absorption = &t, ad.Scale(2, ad.Mul(l.k, ad.Index(c, 0, 1)))
		}
		for i, t := range p.Tables {
			c, err := t.at(p.material(i), f.Energy, shift)
			if err != nil {
				return err
			}
			contrast := farfield.Tensor(p.corrected(c, i, l.number-1))
			if around != nil {
				contrast = contrast.Less(*around)
			}
			l.contrasts = append(l.contrasts, contrast)
		}
		p.lights = append(p.lights, l)
	}
	return nil
}

// corrected multiplies delta and beta of a material at an energy by 1 plus their relative errors, if these are searched for.
func (p *pass) corrected(c *ad.Node, material, energy int) *ad.Node {
	d, b := p.value(constantName("delta", material, energy)), p.value(constantName("beta", material, energy))
	if d == nil && b == nil {
		return c
	}
	one := func(x *ad.Node) *ad.Node {
		if x == nil {
			return ad.Scalar(1)
		}
		return ad.Shift(x, 1)
	}
	pair := []*ad.Node{one(d), one(b)}
	factors := slices.Repeat(pair, c.Size()/2)
	return ad.Mul(c, ad.Stack(0, factors...))
}

// twist returns the angle in radians by which the molecules of a material with three optical axes are turned about their director, and nil
// for a material with two.
func (p *pass) twist(material int) *ad.Node {
	if p.Tables[material].Second == nil {
		return nil
	}
	return ad.Scale(math.Pi/180, p.or(fmt.Sprintf("twist_%d", material+1), 0))
}

// constantName is the parameter of the relative error of delta or beta of a material at an energy, both counted from 0.
func constantName(what string, material, energy int) string {
	return fmt.Sprintf("%s_%d_%d", what, material+1, energy+1)
}

func (m *Model) material(i int) string {
	if i < len(m.Names) {
		return m.Names[i]
	}
	return fmt.Sprintf("material %d", i+1)
}

// sameEnergy is the distance in eV below which two frames have one energy.
const sameEnergy = 0.01

// lightAt returns the index of an energy among those of the measurement, or -1.
func (p *pass) lightAt(energy float64) int {
	return slices.IndexFunc(p.lights, func(l *light) bool { return math.Abs(l.energy-energy) < sameEnergy })
}

// layOut chooses the grid of q for where the pixels are at the start, and where they may go.
func (p *pass) layOut(start func(name string) (float64, bool)) error {
	number := func(name string, usual float64) float64 {
		if x, ok := start(name); ok {
			return x
		}
		return usual
	}
	g, d := p.Data.Geometry, p.Data.Detector
	most, points, err := p.farthest(number)
	if err != nil {
		return err
	}
	size := p.Grid.Voxel * float64(max(p.Grid.Shape[1], p.Grid.Shape[2]))
	if q := most * rsoxs.Wavenumber(p.lights[0].energy); p.Closed == nil && q*size < 1 {
		return fmt.Errorf("measured: q reaches %.3g 1/nm only, at which a box of %.3g nm looks like a point: check the distance (%g mm) and the size of the pixels (%g x %g mm)", q, size, g.Distance, d.PixelY, d.PixelX)
	}
	low, high := math.Inf(1), 0.0
	for _, l := range p.lights {
		low, high = min(low, rsoxs.Wavenumber(l.energy)), max(high, rsoxs.Wavenumber(l.energy))
	}
	if p.value("energy_shift") != nil {
		low, high = low-rsoxs.Wavenumber(reach), high+rsoxs.Wavenumber(reach)
	}
	if p.Closed != nil {
		p.closed = p.Closed(p.at, largestQ(most, high))
		return nil
	}
	p.volume, err = farfield.NewVolume(farfield.VolumeSettings{Shape: p.Grid.Shape, Voxel: p.Grid.Voxel, MaxQ: most * high, MinK: low, Tolerance: cmp.Or(p.Tolerance, usualTolerance),
		Pixels: len(p.lights) * points})
	return err
}

// farthest returns the largest component across the beam of the directions that pixels may come to have, and the number of pixels.
func (p *pass) farthest(number func(name string, usual float64) float64) (most float64, points int, err error) {
	if f := p.Data.Fan; f != nil {
		for _, l := range p.lights {
			x, y, _ := f.directions(l.energy)
			for i := range x {
				most = max(most, math.Abs(x[i]), math.Abs(y[i]))
			}
		}
		return most, len(f.Q), nil
	}
	g, d := p.Data.Geometry, p.Data.Detector
	d.Pad = p.taps + int(math.Ceil(cmp.Or(p.Reach, 6)))
	dir := d.Directions(farfield.Pose{Distance: ad.Scalar(number("distance", g.Distance)),
		PoniY: ad.Scalar(g.PoniY + d.PixelY*number("centre_y", 0)), PoniX: ad.Scalar(g.PoniX + d.PixelX*number("centre_x", 0)),
		Rot1: ad.Scalar(number("rot1", g.Rot1)), Rot2: ad.Scalar(number("rot2", g.Rot2)), Rot3: ad.Scalar(number("rot3", g.Rot3))})
	v, err := ad.Numbers(dir.X, dir.Y)
	if err != nil {
		return 0, 0, err
	}
	for _, x := range v {
		for _, u := range x {
			most = max(most, math.Abs(u))
		}
	}
	return most, len(v[0]), nil
}

// intensity returns the intensity of fully polarised light with the field at an angle in degrees, on the padded detector.
func (p *pass) intensity(l *light, angle float64) *ad.Node {
	if l.intensities == nil { // all angles at once share the way to the pixels
		l.intensities = map[float64]*ad.Node{}
		var angles, radians []float64
		for _, f := range p.Data.Frames {
			if math.Abs(f.Energy-l.energy) >= sameEnergy {
				continue
			}
			for _, own := range f.angles() {
				for _, a := range p.needs(own) {
					if !slices.Contains(angles, a) {
						angles, radians = append(angles, a), append(radians, a*math.Pi/180)
					}
				}
			}
		}
		for i, image := range p.scattered(l, radians) {
			l.intensities[angles[i]] = image
		}
	}
	return l.intensities[angle]
}

// angles lists the angles of the field at which a frame was seen, in degrees.
func (f *Frame) angles() []float64 {
	list := []float64{f.Angle}
	if f.Bins != nil {
		for _, a := range f.Bins.Also {
			list = append(list, a.Angle)
		}
	}
	return list
}

// needs lists the angles of the field that a frame depends on, in degrees: its own, and with it the other one if the light is not purely
// polarised.
func (p *pass) needs(angle float64) []float64 {
	if p.value("purity") == nil {
		return []float64{angle}
	}
	return []float64{angle, math.Mod(angle+90, 180)}
}

// q returns |q| of the pixels of the detector without its padding, at least least.
func (p *pass) q(l *light, least float64) *ad.Node {
	d := l.direction
	square := ad.AddN(ad.Square(d.X), ad.Square(d.Y), ad.Square(d.Z))
	return ad.Sqrt(ad.Maximum(ad.Mul(ad.Square(l.k), p.cropped(square)), ad.Scalar(least*least))) // the root has a derivative above 0 only
}

// cropped leaves the padding of the detector away.
func (p *pass) cropped(x *ad.Node) *ad.Node {
	if p.Data.Fan != nil {
		return x
	}
	rows, columns := p.detector.Size()
	d := p.Data.Detector
	x = ad.Reshape(x, rows, columns)
	x = ad.Slice(ad.Slice(x, 0, p.taps, p.taps+d.Rows), 1, p.taps, p.taps+d.Columns)
	return ad.Reshape(x, d.Rows*d.Columns)
}

// frame returns what the pixels of a frame count in a second.
func (p *pass) frame(f *Frame) *ad.Node {
	at := p.lightAt(f.Energy)
	s := &seen{pass: p, light: p.lights[at], frame: f, number: p.lights[at].number}
	scattered := ad.Mul(s.scale(), p.blurred(p.polarised(s.light, f.Angle)))
	through := sum(scattered, s.background())
	if t := s.transmission(); t != nil {
		through = ad.Mul(t, through)
	}
	total := sum(through, s.fluorescence())
	if p.SolidAngle && p.Data.Fan == nil {
		total = ad.Mul(p.cropped(s.light.direction.SolidAngle), total)
	}
	if f.Flux != 0 {
		total = ad.Scale(f.Flux, total)
	}
	if x := s.value(fmt.Sprintf("exposure_%d", s.number)); x != nil {
		total = ad.Mul(ad.Exp(x), total)
	}
	if d := s.dark(); d != nil {
		total = ad.Add(total, d)
	}
	return total
}

func sum(a, b *ad.Node) *ad.Node {
	if b == nil {
		return a
	}
	return ad.Add(a, b)
}
