// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import ad "github.com/euryale-dev/euryale/autodiff"

// The losses compare activities y [..., n] with what should fire.

// Overlap is 1 minus the fraction of the k target neurons that fire, over all rows.
func Overlap(y *ad.Node, target []int) *ad.Node {
	picked := ad.Gather(y, ad.Ints(target), -1)
	rows := y.Size() / y.Shape()[len(y.Shape())-1]
	return ad.Sub(ad.Scalar(1), ad.Scale(1/float64(rows*len(target)), ad.Sum(picked)))
}

// CrossEntropy is the mean over neurons of the binary cross entropy between activities and targets
// of 0 or 1.
func CrossEntropy(y *ad.Node, target []int) *ad.Node {
	n := y.Shape()[len(y.Shape())-1]
	fires := make([]float64, n)
	for _, i := range target {
		fires[i] = 1
	}
	t := ad.Const(fires, n)
	safe := ad.Clip(y, 1e-12, 1-1e-12)
	terms := ad.Add(ad.Mul(t, ad.Log(safe)), ad.Mul(ad.Sub(ad.Scalar(1), t), ad.Log(ad.Sub(ad.Scalar(1), safe))))
	return ad.Scale(-1/float64(y.Size()), ad.Sum(terms))
}

// Classification is the cross entropy of the correct label under a softmax of scale times the
// overlap with each class's assembly of k neurons; y is [n].
func Classification(y *ad.Node, assemblies [][]int, label int, scale float64) *ad.Node {
	scores := Scores(y, assemblies, scale)
	return ad.Sub(logSumExp(scores), ad.Index(scores, 0, label))
}

// Scores returns scale times the fraction of each assembly that fires in y [n].
func Scores(y *ad.Node, assemblies [][]int, scale float64) *ad.Node {
	list := make([]*ad.Node, len(assemblies))
	for c, a := range assemblies {
		list[c] = ad.Scale(scale/float64(len(a)), ad.Sum(ad.Gather(y, ad.Ints(a), -1)))
	}
	return ad.Stack(0, list...)
}

func logSumExp(x *ad.Node) *ad.Node {
	m := ad.StopGradient(ad.Max(x))
	return ad.Add(m, ad.Log(ad.Sum(ad.Exp(ad.Sub(x, m)))))
}
