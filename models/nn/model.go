// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Model is what a Build function declares parameters with. Names are unique; layers append their
// own names after a dot, such as conv1.weight.
type Model struct {
	training bool
	params   []variable
	states   []variable
	noise    []*ad.Node // inputs that training fills with random numbers in 0..1
	err      error
}

// variable is a parameter, or a running statistic.
type variable struct {
	name    string
	node    *ad.Node // input
	updated *ad.Node // value of a statistic after a step
	init    Init
}

// Init fills the initial values of a parameter with a given shape.
type Init func(s tensor.Stream, shape []int, to []float64)

// Constant sets all values to v.
func Constant(v float64) Init {
	return func(_ tensor.Stream, _ []int, to []float64) {
		for i := range to {
			to[i] = v
		}
	}
}

// Uniform draws values from -a..a.
func Uniform(a float64) Init {
	return func(s tensor.Stream, _ []int, to []float64) {
		for i := range to {
			to[i] = a * (2*s.Float64() - 1)
		}
	}
}

// He draws values from -a..a with a = gain sqrt(3/inputs), where inputs is the number of terms that
// an output of the layer sums; a gain of sqrt(2) suits ReLU (arXiv:1502.01852), and 1/sqrt(3) is
// what PyTorch's layers use.
func He(gain float64) Init {
	return func(s tensor.Stream, shape []int, to []float64) {
		Uniform(gain*math.Sqrt(3/float64(max(1, inputsOf(shape)))))(s, shape, to)
	}
}

// Glorot draws values from -a..a with a = sqrt(6/(inputs + outputs)) (AISTATS 2010).
func Glorot() Init {
	return func(s tensor.Stream, shape []int, to []float64) {
		out := 1
		if len(shape) > 0 {
			out = len(to) / max(1, inputsOf(shape))
		}
		Uniform(math.Sqrt(6/float64(max(1, inputsOf(shape)+out))))(s, shape, to)
	}
}

// inputsOf returns how many terms an output sums: weights are (inputs, outputs), filters (outputs, channels, height, width).
func inputsOf(shape []int) int {
	if len(shape) == 2 {
		return shape[0]
	}
	n := 1
	for _, d := range shape[min(1, len(shape)):] {
		n *= d
	}
	return n
}

// Training reports whether the graph is the one for training.
func (m *Model) Training() bool { return m.training }

// Param declares a parameter that training changes, in the network's precision.
func (m *Model) Param(name string, init Init, shape ...int) *ad.Node {
	return m.declare(&m.params, name, init, shape)
}

func (m *Model) declare(list *[]variable, name string, init Init, shape []int) *ad.Node {
	n := ad.Input(name, shape...)
	known := func(v variable) bool { return v.name == name }
	switch {
	case n.Err() != nil:
		m.fail(n.Err())
	case name == "" || slices.ContainsFunc(m.params, known) || slices.ContainsFunc(m.states, known):
		m.fail(fmt.Errorf("nn: the parameter %q has no name, or is declared twice: give each layer a name of its own", name))
	case init == nil:
		m.fail(fmt.Errorf("nn: parameter %s has no initial values: give it an Init, such as nn.Glorot()", name))
	}
	*list = append(*list, variable{name: name, node: n, init: init})
	return n
}

func (m *Model) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// Statistic declares numbers that are kept from step to step and that training does not change by
// gradients, such as running means. In a graph for training, update returns what they become; it
// may be nil.
func (m *Model) Statistic(name string, init Init, update func(now *ad.Node) *ad.Node, shape ...int) *ad.Node {
	n := m.declare(&m.states, name, init, shape)
	s := &m.states[len(m.states)-1]
	if s.updated = n; m.training && update != nil {
		s.updated = update(n)
	}
	return n
}

// Noise returns random numbers in 0..1, which are different in each step. It is for training: in
// evaluation it is an error.
func (m *Model) Noise(shape ...int) *ad.Node {
	if !m.training {
		return ad.Fail(fmt.Errorf("nn: Noise is only for training, as results of an evaluation must be the same each time: ask Training first"))
	}
	n := ad.Input("noise", shape...)
	m.noise = append(m.noise, n)
	return n
}

// Dense is x w + b for rows x (..., inputs): parameters name.weight (inputs, outputs) and name.bias.
func (m *Model) Dense(name string, x *ad.Node, outputs int) *ad.Node {
	if x.Err() != nil {
		return x
	}
	if len(x.Shape()) < 2 {
		return ad.Fail(fmt.Errorf("nn: %s takes rows, but its input has shape %v: want (..., inputs)", name, x.Shape()))
	}
	in := x.Shape()[len(x.Shape())-1]
	w := m.Param(name+".weight", He(1/math.Sqrt(3)), in, outputs)
	b := m.Param(name+".bias", Uniform(1/math.Sqrt(float64(max(1, in)))), outputs)
	return ad.Add(ad.MatMul(x, w), b)
}

// Conv2D is a convolution of images (batch, channels, height, width) with square filters of some size: parameters name.weight (outputs,
// channels/groups, size, size) and name.bias. For filters that are not square, or without a bias, see Param and autodiff.Conv2D.
func (m *Model) Conv2D(name string, x *ad.Node, outputs, size int, s ad.Convolution) *ad.Node {
	if x.Err() != nil {
		return x
	}
	if len(x.Shape()) != 4 {
		return ad.Fail(fmt.Errorf("nn: %s takes images, but its input has shape %v: want (batch, channels, height, width)", name, x.Shape()))
	}
	in := x.Shape()[1] / max(1, s.Groups)
	w := m.Param(name+".weight", He(1/math.Sqrt(3)), outputs, in, size, size)
	b := m.Param(name+".bias", Uniform(1/math.Sqrt(float64(max(1, in*size*size)))), outputs)
	return ad.Add(ad.Conv2D(x, w, s), ad.Reshape(b, outputs, 1, 1))
}

// ConvTranspose2D is the transpose of a convolution, from images (batch, channels, height, width):
// parameters name.weight (channels, outputs/groups, size, size) and name.bias. The argument more is
// added to height and width; see autodiff.ConvTranspose2D.
func (m *Model) ConvTranspose2D(name string, x *ad.Node, outputs, size int, s ad.Convolution, more [2]int) *ad.Node {
	if x.Err() != nil {
		return x
	}
	if len(x.Shape()) != 4 {
		return ad.Fail(fmt.Errorf("nn: %s takes images, but its input has shape %v: want (batch, channels, height, width)", name, x.Shape()))
	}
	out := outputs / max(1, s.Groups)
	w := m.Param(name+".weight", He(1/math.Sqrt(3)), x.Shape()[1], out, size, size)
	b := m.Param(name+".bias", Uniform(1/math.Sqrt(float64(max(1, out*size*size)))), outputs)
	return ad.Add(ad.ConvTranspose2D(x, w, s, more), ad.Reshape(b, outputs, 1, 1))
}

// BatchNorm normalises channels, axis 1, by the moments of the batch in training and by running
// moments, which it updates with a momentum of 0.1, in evaluation; 1e-5 is added to variances. Its
// parameters are name.weight and name.bias, its statistics name.running_mean and name.running_var.
func (m *Model) BatchNorm(name string, x *ad.Node) *ad.Node {
	const momentum, eps = 0.1, 1e-5
	if x.Err() != nil {
		return x
	}
	if len(x.Shape()) < 2 {
		return ad.Fail(fmt.Errorf("nn: the input of %s has shape %v: want at least (batch, channels)", name, x.Shape()))
	}
	c := x.Shape()[1]
	gamma, beta := m.Param(name+".weight", Constant(1), c), m.Param(name+".bias", Constant(0), c)
	mean, variance, n := BatchMoments(x)
	if m.training && n < 2 {
		return ad.Fail(fmt.Errorf("nn: the input of %s has shape %v, a single number for each channel, which cannot be normalised: take a larger batch", name, x.Shape()))
	}
	runningMean := m.Statistic(name+".running_mean", Constant(0), func(now *ad.Node) *ad.Node { return Running(now, mean, momentum) }, c)
	runningVar := m.Statistic(name+".running_var", Constant(1), func(now *ad.Node) *ad.Node { return Running(now, Unbiased(variance, n), momentum) }, c)
	if !m.training {
		mean, variance = runningMean, runningVar
	}
	return BatchNorm(x, mean, variance, gamma, beta, eps)
}

// LayerNorm normalises the last axis, with 1e-5 added to variances: parameters name.weight and name.bias.
func (m *Model) LayerNorm(name string, x *ad.Node) *ad.Node {
	if x.Err() != nil {
		return x
	}
	if len(x.Shape()) == 0 {
		return ad.Fail(fmt.Errorf("nn: the input of %s is a single number, which has no axis to normalise: give it an array", name))
	}
	n := x.Shape()[len(x.Shape())-1]
	return LayerNorm(x, m.Param(name+".weight", Constant(1), n), m.Param(name+".bias", Constant(0), n), 1e-5)
}

// Dropout sets elements to 0 with probability p in training and divides the others by 1-p; in evaluation it does nothing
// (JMLR 15, 1929, 2014).
func (m *Model) Dropout(x *ad.Node, p float64) *ad.Node {
	if x.Err() != nil || !m.training || p == 0 {
		return x
	}
	if !(p > 0 && p < 1) {
		return ad.Fail(fmt.Errorf("nn: the probability of dropout is %g: want at least 0 and less than 1", p))
	}
	return ad.Where(ad.GreaterEqual(m.Noise(x.Shape()...), ad.Scalar(p)), ad.Scale(1/(1-p), x), ad.Scalar(0))
}

// Embedding returns rows of a table of parameters name.weight (rows, features) at indices of any shape: (shape of the indices, features).
func (m *Model) Embedding(name string, at *ad.Node, rows, features int) *ad.Node {
	normal := func(s tensor.Stream, _ []int, to []float64) { s.NormalTo(to) }
	return ad.Gather(m.Param(name+".weight", normal, rows, features), at, 0)
}

// Attention is attention of several heads from rows x (batch, length, features) to themselves: projections to queries, keys and values, and
// of the heads' results, as Dense layers name.query, name.key, name.value and name.out.
func (m *Model) Attention(name string, x *ad.Node, heads int, causal bool) *ad.Node {
	if x.Err() != nil {
		return x
	}
	s := x.Shape()
	if len(s) != 3 || heads < 1 || s[2]%heads != 0 {
		return ad.Fail(fmt.Errorf("nn: %s has %d heads for an input of shape %v: want (batch, length, features), with features that the heads divide", name, heads, s))
	}
	split := func(part string) *ad.Node {
		return ad.Permute(ad.Reshape(m.Dense(name+"."+part, x, s[2]), s[0], s[1], heads, s[2]/heads), 0, 2, 1, 3)
	}
	y := Attention(split("query"), split("key"), split("value"), causal, 0)
	return m.Dense(name+".out", ad.Reshape(ad.Permute(y, 0, 2, 1, 3), s...), s[2])
}

// GlobalAveragePool is the mean of each channel of images (batch, channels, height, width): (batch, channels).
func GlobalAveragePool(x *ad.Node) *ad.Node {
	if x.Err() == nil && len(x.Shape()) != 4 {
		return ad.Fail(fmt.Errorf("nn: GlobalAveragePool takes images, but its input has shape %v: want (batch, channels, height, width)", x.Shape()))
	}
	return ad.MeanAxes(x, 2, 3)
}

// Flatten returns examples as rows: (batch, everything else).
func Flatten(x *ad.Node) *ad.Node {
	if x.Err() != nil || len(x.Shape()) == 0 {
		return x
	}
	n := x.Shape()[0]
	return ad.Reshape(x, n, x.Size()/max(1, n))
}
