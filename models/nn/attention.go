// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Attention returns softmax(scale q k^T) v for queries (..., L, d), keys (..., S, d) and values (..., S, e)
// (arXiv:1706.03762). If causal, query i sees the keys up to i only. A scale of 0 stands for 1/sqrt(d).
func Attention(q, k, v *ad.Node, causal bool, scale float64) *ad.Node {
	if err := firstErr(q, k, v); err != nil {
		return ad.Fail(err)
	}
	if len(q.Shape()) < 2 || len(k.Shape()) < 2 {
		return ad.Fail(fmt.Errorf("nn: attention cannot use queries of shape %v and keys of shape %v: want (..., length, features)", q.Shape(), k.Shape()))
	}
	n, d := q.Shape()[len(q.Shape())-2], q.Shape()[len(q.Shape())-1]
	keys := k.Shape()[len(k.Shape())-2]
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(d))
	}
	scores := ad.Scale(scale, ad.MatMul(q, ad.T(k)))
	if causal {
		hidden := make([]float64, n*keys)
		for i := range n {
			for j := i + 1; j < keys; j++ {
				hidden[i*keys+j] = 1
			}
		}
		scores = ad.Where(ad.Const(hidden, n, keys), ad.Scalar(math.Inf(-1)), scores)
	}
	return ad.MatMul(ad.Softmax(scores, -1), v)
}
