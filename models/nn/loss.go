// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Reduction says how the losses of examples are combined.
type Reduction int

const (
	Mean Reduction = iota // mean of all elements
	Sum                   // sum of all elements
	None                  // loss of each example, without reduction
)

// of reduces losses.
func (r Reduction) of(x *ad.Node) *ad.Node {
	switch r {
	case Mean:
		return ad.Mean(x)
	case Sum:
		return ad.Sum(x)
	}
	return x
}

// Labels says how CrossEntropy counts labels. The zero value is the default.
type Labels struct {
	Reduction Reduction
	Smoothing float64 // fraction of the probability that is spread over all classes
	Ignore    []int   // labels that do not count; the mean is over the others
	// Weights are factors of the losses of the classes, for example to make rare classes count
	// more; the mean is divided by the sum of the weights of the labels. Without them all classes
	// count equally.
	Weights []float64
}

// CrossEntropy is the negative logarithm of the probability of labels, indices (batch), under the softmax of logits
// (batch, classes). Gradient: softmax minus the (smoothed) label, over the number of labels in a mean.
func CrossEntropy(logits, labels *ad.Node, s Labels) *ad.Node {
	if err := firstErr(logits, labels); err != nil {
		return ad.Fail(err)
	}
	if len(logits.Shape()) != 2 || !slices.Equal(labels.Shape(), logits.Shape()[:1]) || !labels.IsInt() {
		return ad.Fail(fmt.Errorf("nn: cross entropy cannot use logits %v with labels %v: want (batch, classes) and class numbers (batch)", logits.Shape(), labels.Shape()))
	}
	n, classes := logits.Shape()[0], logits.Shape()[1]
	if len(s.Weights) != 0 && len(s.Weights) != classes || !(s.Smoothing >= 0 && s.Smoothing <= 1) {
		return ad.Fail(fmt.Errorf("nn: cross entropy has %d classes, %d weights and smoothing %g: want a weight for each class or none, and smoothing from 0 to 1", classes, len(s.Weights), s.Smoothing))
	}
	at, counts := labels, ad.Full(1, n)
	if len(s.Ignore) > 0 {
		for _, ignored := range s.Ignore {
			counts = ad.Mul(counts, ad.NotEqual(ad.Float(labels), ad.Scalar(float64(ignored))))
		}
		at = ad.FloorIndex(ad.Mul(ad.Float(labels), counts)) // labels that do not count may lie outside
	}
	logs := ad.LogSoftmax(logits, 1)
	if len(s.Weights) > 0 {
		logs = ad.Mul(logs, ad.Const(s.Weights, classes))
	}
	loss := ad.Scale(s.Smoothing-1, ad.Reshape(ad.TakeAlong(logs, ad.Reshape(at, n, 1), 1), n))
	if s.Smoothing != 0 {
		loss = ad.Sub(loss, ad.Scale(s.Smoothing, ad.MeanAxes(logs, 1)))
	}
	loss = ad.Mul(loss, counts)
	if len(s.Weights) > 0 {
		counts = ad.Mul(counts, ad.Gather(ad.Const(s.Weights, classes), at, 0))
	}
	if s.Reduction == Mean {
		return ad.Div(ad.Sum(loss), ad.Sum(counts))
	}
	return s.Reduction.of(loss)
}

// firstErr returns the first mistake among nodes.
func firstErr(nodes ...*ad.Node) error {
	for _, n := range nodes {
		if n == nil {
			return fmt.Errorf("nn: a Node of the loss is nil: pass the Nodes that the layers return")
		}
		if n.Err() != nil {
			return n.Err()
		}
	}
	return nil
}

// pair returns the first mistake of a loss of x and its target, which must have one shape: a target that broadcasts, such as (batch) for
// results (batch, 1), would be compared with every result.
func pair(name string, x, target *ad.Node) error {
	if err := firstErr(x, target); err != nil {
		return err
	}
	if !slices.Equal(x.Shape(), target.Shape()) {
		return fmt.Errorf("nn: %s compares results %v with targets %v: want the same shape; see autodiff.Reshape", name, x.Shape(), target.Shape())
	}
	return nil
}

// BCEWithLogits is the negative log likelihood of targets in 0..1 under Bernoulli distributions with logits x:
// softplus(x) - x t.
func BCEWithLogits(x, target *ad.Node, r Reduction) *ad.Node {
	if err := pair("binary cross entropy", x, target); err != nil {
		return ad.Fail(err)
	}
	return r.of(ad.Sub(ad.Softplus(x), ad.Mul(x, target)))
}

// MSE is the square of the difference from a target of the same shape.
func MSE(x, target *ad.Node, r Reduction) *ad.Node {
	if err := pair("squared error", x, target); err != nil {
		return ad.Fail(err)
	}
	return r.of(ad.Square(ad.Sub(x, target)))
}

// L1 is the absolute difference from a target of the same shape.
func L1(x, target *ad.Node, r Reduction) *ad.Node {
	if err := pair("absolute error", x, target); err != nil {
		return ad.Fail(err)
	}
	return r.of(ad.Abs(ad.Sub(x, target)))
}

// Huber is half the square of differences d up to delta, and delta (|d| - delta/2) beyond.
func Huber(x, target *ad.Node, delta float64, r Reduction) *ad.Node {
	if err := pair("Huber's loss", x, target); err != nil {
		return ad.Fail(err)
	}
	d := ad.Sub(x, target)
	size := ad.Abs(d)
	return r.of(ad.Where(ad.LessEqual(size, ad.Scalar(delta)), ad.Scale(0.5, ad.Square(d)), ad.Scale(delta, ad.Shift(size, -delta/2))))
}

// SmoothL1 is Huber divided by its width beta.
func SmoothL1(x, target *ad.Node, beta float64, r Reduction) *ad.Node {
	return ad.Scale(1/beta, Huber(x, target, beta, r))
}

// KLDivergence is the divergence of the probabilities target from the logarithms of probabilities
// logs, summed over all axes but the first, over which the mean is taken: sum t (log t - logs) /
// batch. Terms with t = 0 are 0.
func KLDivergence(logs, target *ad.Node) *ad.Node {
	if err := pair("divergence", logs, target); err != nil {
		return ad.Fail(err)
	}
	if len(logs.Shape()) == 0 {
		return ad.Fail(fmt.Errorf("nn: the divergence has shape %v: want an axis of the batch first", logs.Shape()))
	}
	some := ad.Greater(target, ad.Scalar(0))
	terms := ad.Mul(target, ad.Sub(ad.Log(ad.Where(some, target, ad.Scalar(1))), logs))
	return ad.Scale(1/float64(logs.Shape()[0]), ad.Sum(ad.Where(some, terms, ad.Scalar(0))))
}

// TopAccuracy is the fraction of the labels, indices (batch), that are among the k largest logits
// (batch, classes). Of equal logits the first ones count as larger, so that k = 1 is Accuracy.
func TopAccuracy(logits, labels *ad.Node, k int) *ad.Node {
	if err := firstErr(logits, labels); err != nil {
		return ad.Fail(err)
	}
	if len(logits.Shape()) != 2 || !slices.Equal(labels.Shape(), logits.Shape()[:1]) || !labels.IsInt() || k < 1 || k > logits.Shape()[1] {
		return ad.Fail(fmt.Errorf("nn: accuracy of the %d largest cannot use logits %v with labels %v: want (batch, classes), class numbers (batch), and from 1 to the number of classes", k, logits.Shape(), labels.Shape()))
	}
	n, classes := logits.Shape()[0], logits.Shape()[1]
	numbers := make([]float64, classes)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	own := ad.TakeAlong(logits, ad.Reshape(labels, n, 1), 1)
	later := ad.GreaterEqual(ad.Const(numbers, classes), ad.Reshape(ad.Float(labels), n, 1))
	behind := ad.SumAxes(ad.Where(later, ad.LessEqual(logits, own), ad.Less(logits, own)), 1) // the label is behind itself
	return ad.Mean(ad.Greater(behind, ad.Scalar(float64(classes-k))))
}

// Accuracy is the fraction of the labels, indices (batch), for which logits (batch, classes) are
// largest.
func Accuracy(logits, labels *ad.Node) *ad.Node {
	if err := firstErr(logits, labels); err != nil {
		return ad.Fail(err)
	}
	return ad.Mean(ad.Equal(ad.Float(ad.Argmax(logits, 1)), ad.Float(labels)))
}
