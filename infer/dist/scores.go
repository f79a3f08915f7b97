package dist

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Scores writes into dst what each value of x is on the scale of a standard normal
// distribution: Phi^-1(F(x)), the quantile residual, which is (x-mu)/sigma for Normal. Values
// of a discrete distribution, and those at the marks of a censored one, are placed at random within their probability, at the share
// place(i) in [0, 1) of it. Shapes and p are those of Fill. Scores lie between -8.2 and
// 8.2, except Normal's. It is an error for distributions of vectors and for those without CDF.
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
		case d.marks != nil && d.atMark(x[i], theta) != 0:
			dst[i] = score(d.placeAtMark(x[i], theta, place(i)))
		case d.Discrete:
			below, upTo := d.CDF(x[i]-1, theta), d.CDF(x[i], theta)
			dst[i] = score(below + place(i)*(upTo-below))
		default:
			dst[i] = score(d.CDF(x[i], theta))
		}
		return nil
	})
}

// atMark says whether x was recorded at the lower (-1) or upper (1) mark of a censored
// distribution, and not between them (0).
func (d Dist) atMark(x float64, theta []float64) int {
	lo, hi := d.marks(theta)
	switch {
	case x <= lo:
		return -1
	case x >= hi:
		return 1
	}
	return 0
}

// placeAtMark places a censored value within the probability of its tail.
func (d Dist) placeAtMark(x float64, theta []float64, share float64) float64 {
	lo, hi := d.marks(theta)
	if d.atMark(x, theta) < 0 {
		return share * d.CDF(lo, theta)
	}
	if d.Discrete {
		hi--
	} else {
		hi = math.Nextafter(hi, math.Inf(-1)) // at the mark the distribution is complete
	}
	below := d.CDF(hi, theta)
	return below + share*(1-below)
}

// score is the normal quantile of u, kept finite.
func score(u float64) float64 {
	const end = 1.1e-16
	return mathext.NormalQuantile(min(max(u, end), 1-end))
}

// MeansAndSDs writes the mean and the standard deviation of each value of an array,
// NaN where the distribution has none. Shapes and p are those of Fill.
func (d Dist) MeansAndSDs(mean, sd []float64, shape []int, p [][]float64) error {
	return d.each(shape, p, func(i int, theta []float64) error {
		mean[i], sd[i] = d.Mean(theta), math.Sqrt(d.Var(theta))
		return nil
	})
}
