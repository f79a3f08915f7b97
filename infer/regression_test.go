package infer

import (
	"fmt"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/golden"
	"gonum.org/v1/gonum/mat"
)

// regression is y ~ N(X b, sigma) in sufficient statistics around least
// squares, with parameters b and log sigma. Priors add their log density and
// gradient, given b and sigma; the one of sigma is with respect to sigma.
type regression struct {
	n, rss   float64
	gram     [][]float64
	best     []float64
	prior    func(b []float64, s float64, gb []float64) (lp, gs float64)
	shift    bool // the first coefficient is called alpha
	distance []float64
}

func newRegression(x [][]float64, y []float64, prior func(b []float64, s float64, gb []float64) (lp, gs float64)) *regression {
	k := len(x[0])
	design := mat.NewDense(len(x), k, nil)
	for i, row := range x {
		design.SetRow(i, row)
	}
	var b mat.Dense
	if err := b.Solve(design, mat.NewDense(len(y), 1, y)); err != nil {
		panic(err)
	}
	var gram, fitted mat.Dense
	gram.Mul(design.T(), design)
	fitted.Mul(design, &b)
	r := &regression{n: float64(len(y)), best: mat.Col(nil, 0, &b), prior: prior}
	for i, v := range y {
		d := v - fitted.At(i, 0)
		r.rss += d * d
	}
	for i := range k {
		r.gram = append(r.gram, mat.Row(nil, i, &gram))
	}
	return r
}

func (r *regression) Dim() int { return len(r.best) + 1 }

func (r *regression) Clone() Target {
	c := *r
	c.distance = nil
	return &c
}

func (r *regression) LogProbGrad(q, g []float64) (float64, error) {
	k := len(r.best)
	if r.distance == nil {
		r.distance = make([]float64, k)
	}
	s := math.Exp(q[k])
	for i := range r.distance {
		r.distance[i] = q[i] - r.best[i]
	}
	ss := r.rss
	for i, row := range r.gram {
		v := dot(row, r.distance)
		ss += v * r.distance[i]
		g[i] = -v / (s * s)
	}
	lp := -r.n*(halfLog2Pi+q[k]) - ss/(2*s*s) + q[k]
	g[k] = -r.n + ss/(s*s) + 1
	if r.prior != nil {
		p, gs := r.prior(q[:k], s, g[:k])
		lp += p
		g[k] += gs * s
	}
	return lp, nil
}

func (r *regression) Names() []string {
	var names []string
	for i := range r.best {
		names = append(names, fmt.Sprintf("beta[%d]", i+1))
	}
	if r.shift {
		names = append([]string{"alpha"}, names[:len(names)-1]...)
	}
	return append(names, "sigma")
}

func (r *regression) Len() int { return r.Dim() }

func (r *regression) Write(q, out []float64) error {
	copy(out, q)
	out[len(r.best)] = math.Exp(q[len(r.best)])
	return nil
}

func normalPrior(b []float64, sd float64, gb []float64) (lp float64) {
	for i, v := range b {
		lp -= v*v/(2*sd*sd) + math.Log(sd) + halfLog2Pi
		gb[i] -= v / (sd * sd)
	}
	return lp
}

func cauchyPrior(s, scale float64) (lp, g float64) {
	z := s / scale
	return -math.Log(math.Pi*scale) - math.Log1p(z*z), -2 * z / scale / (1 + z*z)
}

type regressionFile struct {
	posterior
	Data struct {
		X                                    [][]float64
		Y                                    []float64
		K                                    int
		Earn, Height                         []float64
		AgeDiscrete                          []float64 `json:"age_discrete"`
		Educ1, Gender, Income, Partyid7      []float64
		RaceAdj                              []float64 `json:"race_adj"`
		RealIdeo                             []float64 `json:"real_ideo"`
		KidScore                             []float64 `json:"kid_score"`
		MomHS                                []float64 `json:"mom_hs"`
		MomIQ                                []float64 `json:"mom_iq"`
		Weight, Diam1, Diam2, Group, Density []float64
		CanopyHeight                         []float64 `json:"canopy_height"`
		TotalHeight                          []float64 `json:"total_height"`
	}
}

// columns makes a design of an intercept and columns.
func columns(cols ...[]float64) [][]float64 {
	x := make([][]float64, len(cols[0]))
	for i := range x {
		x[i] = []float64{1}
		for _, c := range cols {
			x[i] = append(x[i], c[i])
		}
	}
	return x
}

func dummy(v []float64, level float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = truth(x == level)
	}
	return out
}

func logs(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(x)
	}
	return out
}

// regressions lists posteriors with the effective draws per gradient of rstan
// 2.21.7 and of the reference implementation of the low-rank metric, 0 where
// not known (stan_2_21_peer.json, peer_gradient_efficiency.json).
var regressions = []struct {
	name        string
	rstan, goal float64
	build       func(*regressionFile) *regression
}{
	{"arK-arK", 0.0091, 0.152, func(f *regressionFile) *regression {
		y, lags := f.Data.Y, f.Data.K
		var x [][]float64
		for t := lags; t < len(y); t++ {
			row := []float64{1}
			for k := range lags {
				row = append(row, y[t-k-1])
			}
			x = append(x, row)
		}
		r := newRegression(x, y[lags:], func(b []float64, s float64, gb []float64) (float64, float64) {
			lp, g := cauchyPrior(s, 2.5)
			return lp + normalPrior(b, 10, gb), g
		})
		r.shift = true
		return r
	}},
	{"sblrc-blr", 0.0063, 0.132, func(f *regressionFile) *regression {
		return newRegression(f.Data.X, f.Data.Y, func(b []float64, s float64, gb []float64) (float64, float64) {
			gs := []float64{0}
			lp := normalPrior([]float64{s}, 10, gs)
			return lp + normalPrior(b, 10, gb), gs[0]
		})
	}},
	{"earnings-earn_height", 0.0015, 0.250, func(f *regressionFile) *regression {
		return newRegression(columns(f.Data.Height), f.Data.Earn, nil)
	}},
	{"nes1972-nes", 0.0051, 0.117, func(f *regressionFile) *regression {
		d := &f.Data
		return newRegression(columns(d.RealIdeo, d.RaceAdj, dummy(d.AgeDiscrete, 2), dummy(d.AgeDiscrete, 3), dummy(d.AgeDiscrete, 4),
			d.Educ1, d.Gender, d.Income), d.Partyid7, nil)
	}},
	{"kidiq-kidscore_interaction", 0, 0, func(f *regressionFile) *regression {
		both := make([]float64, len(f.Data.MomHS))
		for i, hs := range f.Data.MomHS {
			both[i] = hs * f.Data.MomIQ[i]
		}
		return newRegression(columns(f.Data.MomHS, f.Data.MomIQ, both), f.Data.KidScore,
			func(_ []float64, s float64, _ []float64) (float64, float64) { return cauchyPrior(s, 2.5) })
	}},
	{"mesquite-logmesquite", 0, 0, func(f *regressionFile) *regression {
		d := &f.Data
		return newRegression(columns(logs(d.Diam1), logs(d.Diam2), logs(d.CanopyHeight), logs(d.TotalHeight), logs(d.Density), d.Group),
			logs(d.Weight), nil)
	}},
}

// The posteriors of posteriordb that are regressions: same moments as their
// reference draws, more effective draws per gradient than rstan and 0.9 of those
// that the reference implementation of the metric makes, on average of three seeds.
func TestRegressions(t *testing.T) {
	for _, c := range regressions {
		t.Run(c.name, func(t *testing.T) {
			var file regressionFile
			golden.JSON(t, &file, "inference", "posteriors", c.name+".json")
			target := c.build(&file)
			checkDensity(t, target, &file.posterior)
			got, worst := averageESS(t, target, &file.posterior, Config{})
			if want := max(c.rstan, 0.9*c.goal); got < want {
				t.Errorf("%.4f effective draws per gradient, want %.4f", got, want)
			}
			t.Logf("%.4f effective draws per gradient (rstan %.4f, reference %.3f), moments within %.1f standard errors",
				got, c.rstan, c.goal, worst)
		})
	}
}

// averageESS checks the moments of three runs and returns their effective draws
// per gradient and largest deviation in standard errors.
func averageESS(t *testing.T, target Target, want *posterior, cfg Config) (perGradient, worst float64) {
	t.Helper()
	const seeds = 3
	for seed := range seeds {
		cfg.Seed = uint64(seed)
		fit := mustSample(t, target, cfg)
		worst = math.Max(worst, checkMoments(t, fit, want))
		perGradient += leastESS(fit) / seeds
	}
	return perGradient, worst
}

func checkDensity(t *testing.T, target Target, want *posterior) {
	t.Helper()
	g := make([]float64, target.Dim())
	for i, p := range want.Checks.Points {
		lp, err := target.LogProbGrad(p.Q, g)
		if err != nil || math.Abs(lp-p.LP) > 1e-8*math.Max(1, math.Abs(p.LP)) {
			t.Errorf("point %d: log density %.15g, want %.15g", i, lp, p.LP)
		}
	}
}

func leastESS(fit *Fit) float64 {
	least := math.Inf(1)
	for _, r := range fit.Summary().Rows {
		least = math.Min(least, r.ESSBulk)
	}
	warm, sampling := fit.Gradients()
	return least / float64(warm+sampling)
}

// checkMoments compares with the reference draws at 5 standard errors and
// returns the largest deviation.
func checkMoments(t *testing.T, fit *Fit, want *posterior) (worst float64) {
	t.Helper()
	for _, r := range fit.Summary().Rows {
		ref, ok := want.Reference.Parameters[r.Name]
		if !ok {
			t.Fatalf("no reference for %s", r.Name)
		}
		x := fit.Draws(r.Name)
		for _, c := range []struct {
			what                   string
			got, want, mcse, mcse0 float64
		}{
			{"mean", r.Mean, ref.Mean, r.MCSEMean, ref.MCSEMean},
			{"sd", r.SD, ref.SD, r.MCSESD, ref.MCSESD},
			{"q05", r.Q05, ref.Q05, diag.MCSEQuantile(x, 0.05), ref.MCSE05},
			{"q50", r.Q50, ref.Q50, diag.MCSEQuantile(x, 0.50), ref.MCSE50},
			{"q95", r.Q95, ref.Q95, diag.MCSEQuantile(x, 0.95), ref.MCSE95},
		} {
			z := math.Abs(c.got-c.want) / math.Hypot(c.mcse, c.mcse0)
			if worst = math.Max(worst, z); z > 5 {
				t.Errorf("%s of %s is %g, want %g (%.1f standard errors)", c.what, r.Name, c.got, c.want, z)
			}
		}
		if !(r.RHat < 1.01) {
			t.Errorf("R-hat of %s is %g", r.Name, r.RHat)
		}
	}
	return worst
}
