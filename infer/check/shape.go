// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// KindShape is the flag of residuals that are not normal.
const KindShape = "distribution of the residuals"

func init() { register(shapeStage, (*residuals).shapeTests) }

// shapeTests tests the distribution of the residuals.
func (w *residuals) shapeTests(r *round, all []test) []test {
	if w.d.SigmaEstimated {
		return all
	}
	return append(all, w.shapeTest(r.outliers))
}

// shapeTest is the test of Anderson and Darling for a normal distribution with unknown mean and variance, on
// the studentised residuals without the outliers.
//
// Reference: Stephens 1986, in D'Agostino and Stephens, Goodness-of-Fit Techniques,
// table 4.9.
func (w *residuals) shapeTest(outliers []int) test {
	t := test{kind: KindShape, p: 1, forgiven: w.d.Robust}
	v := w.mem.numbers.take(w.n)[:0]
	for i, z := range w.studentised {
		if _, out := slices.BinarySearch(outliers, i); !out && !math.IsNaN(z) {
			v = append(v, z)
		}
	}
	if len(v) < 8 {
		return t
	}
	skew, kurtosis := standardise(v)
	if math.IsNaN(skew) {
		return t
	}
	slices.Sort(v)
	t.p = andersonP(andersonDarling(v), float64(len(v)))
	t.harmless = math.Abs(skew) < 0.1 && math.Abs(kurtosis) < 0.2
	t.effect = math.Abs(skew) + math.Abs(kurtosis)
	t.say = func(*test) Flag { return sayShape(skew, kurtosis, w.d.allowed()) }
	return t
}

// allowed names what residuals can be expected to follow.
func (d *Data) allowed() string {
	if d.Counts || d.Quantiles {
		return "the likelihood allows"
	}
	return "a normal distribution allows"
}

func sayShape(skew, kurtosis float64, allowed string) Flag {
	f := Flag{Remedy: "use a distribution that fits the noise, such as Student's t for heavy tails, or look for a mixture of good and bad points"}
	switch {
	case kurtosis > 0.2 && kurtosis > math.Abs(skew):
		f.Text = fmt.Sprintf("the residuals have heavier tails than %s (excess kurtosis %+.2g)", allowed, kurtosis)
	case kurtosis < -0.2 && -kurtosis > 2*math.Abs(skew): // the scatter of kurtosis is twice that of skewness
		f.Text = fmt.Sprintf("the residuals have lighter tails than %s (excess kurtosis %+.2g)", allowed, kurtosis)
		f.Remedy = "look for values that were rounded or clipped, for a periodic disturbance, or for a mixture of two levels"
	case math.Abs(skew) > 0.1:
		f.Text = fmt.Sprintf("the residuals are skewed (skewness %+.2g)", skew)
		f.Remedy = "use a skewed distribution, or look for a baseline or a cut that acts on one side only"
	default:
		f.Text = fmt.Sprintf("the residuals do not scatter as %s (skewness %+.2g, excess kurtosis %+.2g)", allowed, skew, kurtosis)
	}
	return f
}

// standardise scales v to mean 0 and variance 1, and returns its skewness and excess kurtosis; NaN
// if v is constant.
func standardise(v []float64) (skew, kurtosis float64) {
	n, mean, square := float64(len(v)), 0.0, 0.0
	if most := linalg.MaxAbs(v); most > 0 { // so that squares stay in range
		for i := range v {
			v[i] /= most
		}
	}
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		square += (x - mean) * (x - mean)
	}
	sd := math.Sqrt(square / (n - 1))
	if !(sd > 0) {
		return math.NaN(), math.NaN()
	}
	for i := range v {
		v[i] = (v[i] - mean) / sd
		skew += v[i] * v[i] * v[i] / n
		kurtosis += v[i] * v[i] * v[i] * v[i] / n
	}
	return skew, kurtosis - 3
}

// andersonDarling returns A^2 of sorted standardised values.
func andersonDarling(v []float64) float64 {
	n, s := len(v), 0.0
	for i, x := range v {
		below, above := logNormal(x)
		s += (float64(2*i+1)*below + float64(2*(n-i)-1)*above) / float64(n)
	}
	return -float64(n) - s
}

// logNormal returns the logarithms of the probabilities that a standard normal number is less and more than z.
func logNormal(z float64) (below, above float64) {
	far := math.Abs(z)
	tail := normalTail(far)
	small, large := math.Log(tail), math.Log1p(-tail)
	if far > 30 {
		small = -far*far/2 - math.Log(far*math.Sqrt(2*math.Pi))
	}
	if z < 0 {
		return small, large
	}
	return large, small
}

// andersonP returns the probability of a larger A^2.
func andersonP(a, n float64) float64 {
	a *= 1 + 0.75/n + 2.25/(n*n)
	switch {
	case a >= 13: // the parabola below would turn
		return 0
	case a >= 0.6:
		return math.Exp(1.2937 - 5.709*a + 0.0186*a*a)
	case a >= 0.34:
		return math.Exp(0.9177 - 4.279*a - 1.38*a*a)
	case a >= 0.2:
		return 1 - math.Exp(-8.318+42.796*a-59.938*a*a)
	}
	return 1 - math.Exp(-13.436+101.14*a-223.73*a*a)
}
