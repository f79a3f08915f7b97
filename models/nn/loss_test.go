// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/nn"
)

// Losses of weighted classes are those of PyTorch 2.15, float64.
func TestClassWeights(t *testing.T) {
	logits, labels := ad.Input("logits", 4, 3), ad.IntInput("labels", 4)
	values := [][]float64{{1, 2, -1, 0.5, 0, 0.25, -2, 1, 3, 0, 0, 1}, {0, 2, 1, 2}}
	weights := []float64{0.5, 2, 1}
	var outs []*ad.Node
	for _, s := range []nn.Labels{{}, {Ignore: []int{1}}, {Smoothing: 0.2}, {Smoothing: 0.2, Ignore: []int{1}}} {
		s.Weights = weights
		loss := nn.CrossEntropy(logits, labels, s)
		outs = append(outs, loss, ad.Slice(ad.Grad(loss, logits)[0], 0, 0, 1))
	}
	want := [][]float64{{1.469106527594883}, {-0.08227817107306454, 0.07837605696647124, 0.003902114106593303},
		{0.938115562688729}, {-0.14810070793151617, 0.14107690253964825, 0.007023805391867946},
		{1.477644346089495}, {-0.05977457224810397, 0.06964670919456728, -0.009872136946463297},
		{1.1090066515608688}, {-0.10759423004658715, 0.12536407655022114, -0.017769846503633932}}
	for i, got := range outputs(t, outs, []*ad.Node{logits, labels}, values, ad.Settings{}) {
		for k := range got {
			if math.Abs(got[k]-want[i][k]) > 1e-14 {
				t.Errorf("output %d is %v, want %v", i, got, want[i])
			}
		}
	}
	for _, s := range []nn.Labels{{Weights: []float64{1}}, {Smoothing: -0.1}} {
		if err := nn.CrossEntropy(logits, labels, s).Err(); err == nil || !strings.Contains(err.Error(), "a weight for each class") {
			t.Error(err)
		}
	}
}

// Of equal logits the first counts, and NaN is no success.
func TestTopAccuracy(t *testing.T) {
	logits, labels := ad.Input("logits", 5, 3), ad.IntInput("labels", 5)
	nan := math.NaN()
	values := [][]float64{{1, 2, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, nan, nan, nan}, {1, 0, 2, 0, 1}}
	outs := []*ad.Node{nn.TopAccuracy(logits, labels, 1), nn.TopAccuracy(logits, labels, 2), nn.Accuracy(ad.Slice(logits, 0, 0, 4), ad.FloorIndex(ad.Slice(ad.Float(labels), 0, 0, 4)))}
	got := outputs(t, outs, []*ad.Node{logits, labels}, values, ad.Settings{})
	if want := []float64{2. / 5, 3. / 5, 2. / 4}; math.Abs(got[0][0]-want[0])+math.Abs(got[1][0]-want[1])+math.Abs(got[2][0]-want[2]) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if err := nn.TopAccuracy(logits, labels, 4).Err(); err == nil || !strings.Contains(err.Error(), "from 1 to the number of classes") {
		t.Error(err)
	}
	if err := nn.GlobalAveragePool(logits).Err(); err == nil || !strings.Contains(err.Error(), "want (batch, channels, height, width)") {
		t.Error(err)
	}
}
