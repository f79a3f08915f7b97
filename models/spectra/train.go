// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// TrainSettings are the settings of the training of a network. The zero value is the default.
type TrainSettings struct {
	Width      int // number of neurons in each hidden layer. Default 256
	Hidden     int // number of hidden layers between the first and that of the components. Default 2
	Components int // number of components. Default 200, but no more than there are templates or pixels
	// Squared minimises the mean square of the differences in place of the mean of their sizes.
	Squared bool
	// RandomStart begins with random weights of the last layer. By default they are principal
	// components.
	RandomStart bool
	LR          float64 // learning rate of Adam at the start. Default 1e-3
	Batch       int     // number of templates in an update. Default 100
	Patience    int     // number of epochs without a lower loss after which the rate is halved. Default 40
	// LeastLR is the learning rate below which training ends. Default 1e-8.
	LeastLR float64
	Epochs  int // largest number of epochs. Default 1000000
	// Validation is the fraction of the templates, 0 to 0.5, that are left out of training and on
	// which the loss decides. Default 0.
	Validation float64
	// Precision is the number of bits of the arithmetic, 32 or 64. Default 32.
	Precision int
	Seed      uint64
	Threads   int        // number of threads. Default GOMAXPROCS
	Backend   ad.Backend // backend that runs the training. Default: the CPU, with Threads

	Progress func(TrainProgress) // function that is called after every epoch; may be nil
	// Save stores the state, every SaveEvery epochs and at the end; may be nil.
	Save      func(TrainState) error
	SaveEvery int         // number of epochs between two calls of Save. Default 100
	Resume    *TrainState // state to continue from, with the same bits as if training had never stopped
}

// TrainProgress describes the training after an epoch.
type TrainProgress struct {
	Epoch int
	Loss  float64 // mean over the batches of the epoch; 1 is that of the mean spectrum, up to its distribution
	Held  float64 // loss of the templates left out; NaN if there are none
	Best  float64 // smallest loss so far
	LR    float64
}

// TrainState holds everything that training has to remember. Its fields are numbers and slices of
// numbers, which any encoder that keeps float64 exactly can save.
type TrainState struct {
	Epoch   int
	Params  []float64 // weights and biases, layer after layer
	Adam    optim.DescentState
	LR      float64
	Plateau optim.Plateau
	Best    []float64 // parameters with the smallest loss
	Losses  []float64 // loss of each epoch
}

// TrainResult is the result of a training.
type TrainResult struct {
	TrainState
	Network *Network
	// Loss is the loss of Network on all templates: the mean size (or square) of the differences of
	// log spectra, over their spread (or its square).
	Loss float64
	// Converged reports whether the learning rate fell to LeastLR.
	Converged bool
	Device    string
}

func (s TrainSettings) defaults(count, pixels int) TrainSettings {
	number := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	number(&s.Width, 256)
	number(&s.Hidden, 2)
	number(&s.Components, min(200, count, pixels))
	number(&s.Batch, 100)
	number(&s.Patience, 40)
	number(&s.Epochs, 1_000_000)
	number(&s.Precision, 32)
	number(&s.SaveEvery, 100)
	if s.LR == 0 {
		s.LR = 1e-3
	}
	if s.LeastLR == 0 {
		s.LeastLR = 1e-8
	}
	if s.Backend == nil {
		s.Backend = ad.CPU{Threads: s.Threads}
	}
	return s
}

func (s TrainSettings) check() error {
	var bad []error
	say := func(format string, v ...any) { bad = append(bad, fmt.Errorf("spectra: "+format, v...)) }
	for _, n := range []struct {
		name string
		v    int
	}{{"Width", s.Width}, {"Components", s.Components}, {"Batch", s.Batch}, {"Patience", s.Patience}, {"Epochs", s.Epochs}, {"SaveEvery", s.SaveEvery}} {
		if n.v < 1 {
			say("the training has %s %d: want at least 1", n.name, n.v)
		}
	}
	if s.Hidden < 0 {
		say("the network has %s: want at least 0", errtext.Count(s.Hidden, "hidden layer"))
	}
	if !(s.LR > 0) || !(s.LeastLR > 0) || math.IsInf(s.LR, 1) {
		say("the learning rates go from %g down to %g: want finite numbers above 0", s.LR, s.LeastLR)
	}
	if !(s.Validation >= 0 && s.Validation <= 0.5) {
		say("the fraction of templates left out is %g: want 0 to 0.5", s.Validation)
	}
	if s.Precision != 32 && s.Precision != 64 {
		say("the precision is %d bits: want 32 or 64", s.Precision)
	}
	return errors.Join(bad...)
}

// trainer trains one network.
type trainer struct {
	TrainSettings
	dim, count, pixels int
	meanIn, sdIn       []float64 // of the parameters
	x                  []float64 // standardised parameters
	y                  []float64 // log spectra
	mean, sd           []float64 // of each pixel
	spread             float64
	shapes             [][2]int // (out, in) of the layers
	used, held         []int    // templates of training, and those left out

	programs map[programKey]*ad.State
	device   string
}

type programKey struct {
	rows     int
	gradient bool
}

// Train fits a network to a library: points are the mapped parameters, of dim numbers each, a row for each
// template, and logFlux the natural logarithms of the spectra, also in rows. When ctx ends, it returns the
// result so far with ctx.Err(): pass its state to Resume to continue.
//
// The loss is the mean size of the differences of log spectra, over their spread.
func Train(ctx context.Context, points []float64, dim int, logFlux []float64, s TrainSettings) (*TrainResult, error) {
	if err := given.Args("spectra.Train", "ctx", ctx); err != nil {
		return nil, err
	}
	t := &trainer{dim: dim, y: logFlux, programs: map[programKey]*ad.State{}}
	if dim > 0 {
		t.count = len(points) / dim
	}
	if dim < 1 || t.count < 2 || len(points) != t.count*dim || len(logFlux) == 0 || len(logFlux)%t.count != 0 {
		return nil, fmt.Errorf("spectra: %d coordinates, %s and %s do not fit together: want a point and a spectrum for each of at least two templates", len(points), errtext.Count(dim, "parameter"), errtext.Count(len(logFlux), "pixel"))
	}
	for i, v := range logFlux {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("spectra: pixel %d of template %d is %v: leave the template out", i%(len(logFlux)/t.count), i/(len(logFlux)/t.count), v)
		}
	}
	t.pixels = len(logFlux) / t.count
	t.TrainSettings = s.defaults(t.count, t.pixels)
	if err := t.check(); err != nil {
		return nil, err
	}
	if err := t.prepare(points); err != nil {
		return nil, err
	}
	return t.run(ctx)
}

// prepare computes means and spreads, and who is left out.
func (t *trainer) prepare(points []float64) error {
	t.meanIn, t.sdIn = moments(points, t.dim)
	for k, s := range t.sdIn {
		if !(s > 0) {
			return fmt.Errorf("spectra: all templates have the same value of parameter %d: leave it out", k)
		}
	}
	t.x = make([]float64, len(points))
	for i, v := range points {
		t.x[i] = (v - t.meanIn[i%t.dim]) / t.sdIn[i%t.dim]
	}
	t.mean, t.sd = moments(t.y, t.pixels)
	sum, square := 0.0, 0.0
	for i, v := range t.y {
		d := v - t.mean[i%t.pixels]
		sum, square = sum+d, square+d*d
	}
	n := float64(len(t.y))
	if t.spread = math.Sqrt(square/n - sum/n*sum/n); !(t.spread > 0) {
		return errors.New("spectra: all templates are the same, so there is nothing to learn: check the library")
	}
	for k := range t.sd {
		if t.sd[k] == 0 {
			t.sd[k] = t.spread * 1e-6 // a pixel that never changes
		}
	}
	in := t.dim
	for range t.Hidden + 1 {
		t.shapes = append(t.shapes, [2]int{t.Width, in})
		in = t.Width
	}
	t.shapes = append(t.shapes, [2]int{t.Components, in}, [2]int{t.pixels, t.Components})
	held := int(math.Round(t.Validation * float64(t.count)))
	order := tensor.NewStream(t.Seed, purposeHeld, 0)
	for i, k := range order.Perm(t.count) {
		if i < held {
			t.held = append(t.held, k)
		} else {
			t.used = append(t.used, k)
		}
	}
	slices.Sort(t.used)
	slices.Sort(t.held)
	return nil
}

// Purposes of random numbers of training.
const (
	purposeHeld = iota + 1
	purposeStart
	purposeOrder
	purposeNoise
)

// moments returns means and standard deviations of the columns of rows of n numbers.
func moments(x []float64, n int) (mean, sd []float64) {
	mean, sd = make([]float64, n), make([]float64, n)
	count := float64(len(x) / n)
	for i, v := range x {
		mean[i%n] += v / count
	}
	for i, v := range x {
		d := v - mean[i%n]
		sd[i%n] += d * d / count
	}
	for k := range sd {
		sd[k] = math.Sqrt(sd[k])
	}
	return mean, sd
}

// size returns how many parameters there are.
func (t *trainer) size() (n int) {
	for _, s := range t.shapes {
		n += s[0]*s[1] + s[0]
	}
	return n
}

// start returns weights and biases from uniform distributions of width 1/sqrt(inputs), as PyTorch draws
// them, but for the last layer those of the principal components, unless the settings say otherwise.
func (t *trainer) start() ([]float64, error) {
	random := tensor.NewStream(t.Seed, purposeStart, 0)
	params := make([]float64, 0, t.size())
	for _, s := range t.shapes {
		width := 1 / math.Sqrt(float64(s[1]))
		for range s[0]*s[1] + s[0] {
			params = append(params, width*(2*random.Float64()-1))
		}
	}
	if t.RandomStart {
		return params, nil
	}
	components, scores, err := principal(t.y, t.mean, t.pixels, t.Components, t.Seed)
	if err != nil {
		return nil, err
	}
	last := params[len(params)-t.pixels*t.Components-t.pixels:]
	for p := range t.pixels {
		for k := range t.Components {
			last[p*t.Components+k] = components[k*t.pixels+p] * scores[k] / t.sd[p]
		}
	}
	clear(last[t.pixels*t.Components:])
	return params, nil
}

// state returns the program for some templates at a time.
func (t *trainer) state(rows int, gradient bool) (*ad.State, error) {
	key := programKey{rows, gradient}
	if s := t.programs[key]; s != nil {
		return s, nil
	}
	x, y := ad.Input("x", rows, t.dim), ad.Input("y", rows, t.pixels)
	inputs := []*ad.Node{x, y}
	var weights []*ad.Node
	for i, s := range t.shapes {
		weights = append(weights, ad.Input(fmt.Sprintf("weight %d", i), s[0], s[1]), ad.Input(fmt.Sprintf("bias %d", i), s[0]))
	}
	inputs = append(inputs, weights...)
	miss := ad.Sub(ad.Add(ad.Mul(forward(x, weights), ad.Const(t.sd)), ad.Const(t.mean)), y)
	loss := ad.Scale(1/t.spread, ad.Mean(ad.Abs(miss)))
	if t.Squared {
		loss = ad.Scale(1/(t.spread*t.spread), ad.Mean(ad.Square(miss)))
	}
	outputs := []*ad.Node{loss}
	if gradient {
		outputs = append(outputs, ad.Grad(loss, weights...)...)
	}
	p, err := ad.Compile(outputs, ad.Settings{Inputs: inputs, Precision: t.Precision, Backend: t.Backend})
	if err != nil {
		return nil, err
	}
	s := p.NewState()
	t.programs[key], t.device = s, p.Device()
	return s, nil
}

// evaluate returns the loss of some templates, and its gradient unless g is nil.
func (t *trainer) evaluate(params, g []float64, templates []int) (float64, error) {
	s, err := t.state(len(templates), g != nil)
	if err != nil {
		return 0, err
	}
	x, y := make([]float64, 0, len(templates)*t.dim), make([]float64, 0, len(templates)*t.pixels)
	for _, k := range templates {
		x, y = append(x, t.x[k*t.dim:(k+1)*t.dim]...), append(y, t.y[k*t.pixels:(k+1)*t.pixels]...)
	}
	if err := errors.Join(s.SetInput(0, x), s.SetInput(1, y)); err != nil {
		return 0, err
	}
	for i, rest := 0, params; i < 2*len(t.shapes); i++ {
		n := t.length(i)
		if err := s.SetInput(2+i, rest[:n]); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	if err := s.Run(); err != nil {
		return 0, err
	}
	if g != nil {
		at := 0
		for i := range 2 * len(t.shapes) {
			at += copy(g[at:], s.OutputFloat64(1+i))
		}
	}
	return s.OutputFloat64(0)[0], nil
}

// length returns the number of elements of matrix or vector i of the layers.
func (t *trainer) length(i int) int {
	s := t.shapes[i/2]
	if i%2 == 0 {
		return s[0] * s[1]
	}
	return s[0]
}

// loss is evaluate of any number of templates.
func (t *trainer) loss(params []float64, templates []int) (sum float64, err error) {
	for part := range slices.Chunk(templates, t.Batch) {
		l, err := t.evaluate(params, nil, part)
		if err != nil {
			return 0, err
		}
		sum += l * float64(len(part))
	}
	return sum / float64(len(templates)), nil
}

func (t *trainer) run(ctx context.Context) (*TrainResult, error) {
	r := &TrainResult{TrainState: TrainState{LR: t.LR, Plateau: optim.Plateau{Patience: t.Patience}}}
	if t.Resume != nil {
		r.TrainState = *t.Resume
		r.Params, r.Best, r.Losses = slices.Clone(r.Params), slices.Clone(r.Best), slices.Clone(r.Losses)
		if len(r.Params) != t.size() || len(r.Best) != t.size() {
			return nil, fmt.Errorf("spectra: the state has %s, but the network has %d: resume with the settings of the earlier run", errtext.Count(len(r.Params), "parameter"), t.size())
		}
	} else {
		var err error
		if r.Params, err = t.start(); err != nil {
			return nil, err
		}
		r.Best = slices.Clone(r.Params)
	}
	descent := &optim.Descent{Rule: &optim.Adam{}, State: r.Adam}
	g := make([]float64, t.size())
	save := func() error {
		r.Adam = descent.State
		if t.Save == nil {
			return nil
		}
		return t.Save(r.TrainState)
	}
	for r.Epoch < t.Epochs && r.LR >= t.LeastLR {
		if err := ctx.Err(); err != nil {
			return t.finish(r, errors.Join(err, save()))
		}
		descent.LR = r.LR
		order := tensor.NewStream(t.Seed, purposeOrder, uint32(r.Epoch))
		sum, batches := 0.0, 0
		places := order.Perm(len(t.used))
		for part := range slices.Chunk(places, t.Batch) {
			templates := make([]int, len(part))
			for i, k := range part {
				templates[i] = t.used[k]
			}
			loss, err := t.evaluate(r.Params, g, templates)
			if err != nil {
				return nil, err
			}
			if math.IsNaN(loss) || math.IsInf(loss, 0) {
				return t.finish(r, fmt.Errorf("spectra: the loss is %v in epoch %d: lower LR, which is %g", loss, r.Epoch+1, r.LR))
			}
			sum, batches = sum+loss, batches+1
			descent.Step(r.Params, g)
		}
		p := TrainProgress{Epoch: r.Epoch + 1, Loss: sum / float64(batches), Held: math.NaN(), LR: r.LR}
		decides := p.Loss
		if len(t.held) > 0 {
			var err error
			if p.Held, err = t.loss(r.Params, t.held); err != nil {
				return nil, err
			}
			decides = p.Held
		}
		if !r.Plateau.Seen || decides < r.Plateau.Best {
			copy(r.Best, r.Params)
		}
		r.LR = r.Plateau.Next(r.LR, decides)
		r.Epoch, r.Losses = r.Epoch+1, append(r.Losses, p.Loss)
		p.Best = r.Plateau.Best
		if t.Progress != nil {
			t.Progress(p)
		}
		if r.Epoch%t.SaveEvery == 0 {
			if err := save(); err != nil {
				return t.finish(r, err)
			}
		}
	}
	r.Converged = r.LR < t.LeastLR
	return t.finish(r, save())
}

// finish makes the network of the least loss. Its last layer gives log spectra.
func (t *trainer) finish(r *TrainResult, cause error) (*TrainResult, error) {
	all := make([]int, t.count)
	for i := range all {
		all[i] = i
	}
	// The last parameters may be better than those of the least mean over an epoch, in which they changed.
	best := r.Best
	loss, err := t.loss(r.Best, all)
	if last, e := t.loss(r.Params, all); e == nil && len(t.held) == 0 && last < loss {
		loss, best = last, r.Params
	}
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	r.Loss, r.Device = loss, t.device
	var layers []Layer
	rest := best
	for _, s := range t.shapes {
		l := Layer{In: s[1], Out: s[0], W: slices.Clone(rest[:s[0]*s[1]]), B: slices.Clone(rest[s[0]*s[1] : s[0]*s[1]+s[0]])}
		layers, rest = append(layers, l), rest[s[0]*s[1]+s[0]:]
	}
	last := &layers[len(layers)-1]
	for p := range t.pixels {
		for k := range last.In {
			last.W[p*last.In+k] *= t.sd[p]
		}
		last.B[p] = last.B[p]*t.sd[p] + t.mean[p]
	}
	r.Network, err = NewNetwork(t.meanIn, t.sdIn, layers, t.x)
	return r, errors.Join(cause, err)
}
