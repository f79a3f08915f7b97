package dist

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Scores writes into dst what each value of x is on the scale of a standard normal
// law: Phi^-1(F(x)), the quantile residual, which is (x-mu)/sigma for Normal. Values
// of a discrete law are placed at random within their probability, at the share
// place(i) in [0, 1) of it. Shapes and p are those of Fill. Scores lie between -8.2 and
// 8.2, except Normal's. It is an error for laws of vectors and for those without CDF.
//
// Reference: Dunn and Smyth 1996, doi 10.1080/10618600.1996.10474708.
func (d Dist) Scores(dst, x []float64, shape []int, p [][]float64, place func(i int) float64) error {
	if d.Event > 0 || d.cdf == nil {
		return fmt.Errorf("dist: %s has no CDF of numbers: quantile residuals need one", d.Name)
	}
	return d.each(shape, p, func(i int, theta []float64) error {
		switch {
		case d.Name == "normal":
			dst[i] = (x[i] - theta[0]) / theta[1]
		case d.Discrete:
			below, upTo := d.CDF(x[i]-1, theta), d.CDF(x[i], theta)
			dst[i] = score(below + place(i)*(upTo-below))
		default:
			dst[i] = score(d.CDF(x[i], theta))
		}
		return nil
	})
}

// score is the normal quantile of u, kept finite.
func score(u float64) float64 {
	const end = 1.1e-16
	return mathext.NormalQuantile(min(max(u, end), 1-end))
}

// MeansAndSDs writes the mean and the standard deviation of each value of an array,
// NaN where the law has none. Shapes and p are those of Fill.
func (d Dist) MeansAndSDs(mean, sd []float64, shape []int, p [][]float64) error {
	return d.each(shape, p, func(i int, theta []float64) error {
		mean[i], sd[i] = d.Mean(theta), math.Sqrt(d.Var(theta))
		return nil
	})
}
