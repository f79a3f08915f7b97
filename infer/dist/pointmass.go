package dist

import ad "github.com/euryale-dev/euryale/autodiff"

// PointMass is the distribution with the single value at. As a component of Mixture it
// adds probability to that value, whether or not another component can take it.
func PointMass(at any) Dist {
	p := nodes(at)
	return Dist{Name: "pointmass", Params: p, Support: Support{Lower: p[0], Upper: p[0]}, Discrete: true,
		inside:   func(x *ad.Node) *ad.Node { return ad.Equal(x, p[0]) },
		center:   p[0],
		logProb:  func(*ad.Node) *ad.Node { return zero },
		logCDF:   func(*ad.Node) *ad.Node { return zero },
		logCCDF:  func(*ad.Node) *ad.Node { return zero },
		rand:     func(_ Source, p []float64) float64 { return p[0] },
		cdf:      func(float64, []float64) float64 { return 1 },
		quantile: func(_ float64, p []float64) float64 { return p[0] },
		mean:     func(p []float64) float64 { return p[0] },
		variance: func([]float64) float64 { return 0 },
	}
}

func init() {
	register(Family{Name: "pointmass", Params: []string{"at"}, Want: []Support{Real},
		Make: func(p ...any) Dist { return PointMass(p[0]) },
		At:   [][]float64{{2}}})
}
