package infer

import (
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
)

// selected shows some columns of a Posterior under other names.
type selected struct {
	*Posterior
	names []string
	from  []int
	row   []float64
}

// choose picks columns by their own name and, in place, their new one.
func choose(p *Posterior, pairs ...string) *selected {
	s := &selected{Posterior: p, row: make([]float64, p.Len())}
	all := p.Names()
	for i := 0; i < len(pairs); i += 2 {
		s.names, s.from = append(s.names, pairs[i+1]), append(s.from, slices.Index(all, pairs[i]))
	}
	return s
}

func (s *selected) Clone() Target {
	return &selected{s.Posterior.Clone().(*Posterior), s.names, s.from, make([]float64, len(s.row))}
}
func (s *selected) Names() []string { return s.names }
func (s *selected) Len() int        { return len(s.names) }
func (s *selected) Write(q, out []float64) error {
	err := s.Posterior.Write(q, s.row)
	for i, k := range s.from {
		out[i] = s.row[k]
	}
	return err
}

// pointsFile is the data of a curve or of groups.
type pointsFile struct {
	Data struct {
		X, Y, Yerr, Sigma []float64
	}
}

// lacks returns the part of our log density at q that a reference point leaves
// out, and takes its gradient from g.
type lacks func(q, g []float64) float64

func nothing(_, _ []float64) float64 { return 0 }

// cut is the constant of a symmetric prior cut at 0, which Stan does not
// renormalise.
func cut(_, _ []float64) float64 { return math.Ln2 }

// squareOfTau is the square in the LogNormal(0, 2) prior of the first tau. The
// points of the g2 files leave it out, against the model they state (the formula
// evaluated apart, and the points of xpcs/logdensity, have it).
func squareOfTau(q, g []float64) float64 {
	g[0] += q[0] / 4
	return -q[0] * q[0] / 8
}

// modelPosteriors are posteriors with references, written with the Model API.
// Gradients of the curves cancel to 1e-8 near the mode.
var modelPosteriors = []struct {
	name  string
	lacks lacks
	tol   float64 // of gradients
	build func(m *Model, load func(file any))
	pairs []string
}{
	{"eight_schools-eight_schools_noncentered", cut, 1e-9, func(m *Model, load func(file any)) {
		var f pointsFile
		load(&f)
		z := m.Param("z", dist.Normal(0, 1), Shape(8))
		mu := m.Param("mu", dist.Normal(0, 5))
		tau := m.Param("tau", dist.HalfCauchy(5))
		theta := m.Deterministic("theta", ad.Add(mu, ad.Mul(tau, z)))
		m.Observe("y", dist.Normal(theta, m.Data("sd", f.Data.Sigma)), f.Data.Y)
	}, []string{"theta[0]", "theta[1]", "theta[1]", "theta[2]", "theta[2]", "theta[3]", "theta[3]", "theta[4]", "theta[4]", "theta[5]",
		"theta[5]", "theta[6]", "theta[6]", "theta[7]", "theta[7]", "theta[8]", "mu", "mu", "tau", "tau"}},
	{"g2_single_exp", squareOfTau, 2e-8, func(m *Model, load func(file any)) {
		var f pointsFile
		load(&f)
		x := m.Data("x", f.Data.X)
		tau := m.Param("tau", dist.LogNormal(0, 2))
		base := m.Param("baseline", dist.Normal(1, 0.1))
		contrast := m.Param("contrast", dist.HalfNormal(1))
		m.Observe("y", dist.Normal(ad.Add(base, decay(contrast, x, tau)), m.Data("yerr", f.Data.Yerr)), f.Data.Y)
	}, []string{"tau", "tau", "baseline", "baseline", "contrast", "contrast"}},
	{"g2_double_exp", squareOfTau, 2e-8, func(m *Model, load func(file any)) {
		var f pointsFile
		load(&f)
		x := m.Data("x", f.Data.X)
		tau1 := m.Param("tau1", dist.LogNormal(0, 2))
		factor := m.Param("tau2_factor", dist.LogNormal(0, 1))
		tau2 := m.Deterministic("tau2", ad.Mul(tau1, ad.Shift(factor, 1)))
		base := m.Param("baseline", dist.Normal(1, 0.1))
		c1, c2 := m.Param("contrast1", dist.HalfNormal(0.5)), m.Param("contrast2", dist.HalfNormal(0.5))
		m.Observe("y", dist.Normal(ad.AddN(base, decay(c1, x, tau1), decay(c2, x, tau2)), m.Data("yerr", f.Data.Yerr)), f.Data.Y)
	}, []string{"tau1", "tau1", "tau2_factor", "tau2_factor", "baseline", "baseline", "contrast1", "contrast1", "contrast2", "contrast2", "tau2", "tau2"}},
	{"kidiq-kidscore_interaction", cut, 1e-9, func(m *Model, load func(file any)) {
		var f regressionFile
		load(&f)
		d := &f.Data
		b := m.Flat("beta", dist.IdentityTransform(), Shape(4))
		sigma := m.Param("sigma", dist.HalfCauchy(2.5))
		hs, iq := m.Data("mom_hs", d.MomHS), m.Data("mom_iq", d.MomIQ)
		mean := ad.AddN(ad.Index(b, 0, 0), ad.Mul(ad.Index(b, 0, 1), hs), ad.Mul(ad.Index(b, 0, 2), iq), ad.Mul(ad.Index(b, 0, 3), ad.Mul(hs, iq)))
		m.Observe("kid_score", dist.Normal(mean, sigma), d.KidScore)
	}, []string{"beta[0]", "beta[1]", "beta[1]", "beta[2]", "beta[2]", "beta[3]", "beta[3]", "beta[4]", "sigma", "sigma"}},
	{"mesquite-logmesquite", nothing, 1e-9, func(m *Model, load func(file any)) {
		var f regressionFile
		load(&f)
		d := &f.Data
		x := columns(logs(d.Diam1), logs(d.Diam2), logs(d.CanopyHeight), logs(d.TotalHeight), logs(d.Density), d.Group)
		b := m.Flat("beta", dist.IdentityTransform(), Shape(7))
		sigma := m.Flat("sigma", dist.LowerTransform(0))
		design := m.Data("design", slices.Concat(x...), Shape(len(x), 7))
		m.Observe("log_weight", dist.Normal(ad.MatMul(design, b), sigma), logs(d.Weight))
	}, []string{"beta[0]", "beta[1]", "beta[1]", "beta[2]", "beta[2]", "beta[3]", "beta[3]", "beta[4]", "beta[4]", "beta[5]",
		"beta[5]", "beta[6]", "beta[6]", "beta[7]", "sigma", "sigma"}},
}

func decay(contrast, x, tau *ad.Node) *ad.Node {
	return ad.Mul(contrast, ad.Exp(ad.Div(ad.Scale(-2, x), tau)))
}

// Models of the Model API: log densities and gradients of rstan, and the moments
// of reference draws within 5 standard errors.
func TestModelsAgainstReferences(t *testing.T) {
	for _, c := range modelPosteriors {
		t.Run(c.name, func(t *testing.T) {
			load := func(file any) { golden.JSON(t, file, "inference", "posteriors", c.name+".json") }
			var want posterior
			load(&want)
			m := NewModel(c.name)
			c.build(m, load)
			post, err := m.Compile()
			if err != nil {
				t.Fatal(err)
			}
			g := make([]float64, post.Dim())
			for i, p := range want.Checks.Points {
				lp, err := post.LogProbGrad(p.Q, g)
				if lp -= c.lacks(p.Q, g); err != nil || math.Abs(lp-p.LP) > 1e-9*math.Max(1, math.Abs(p.LP)) {
					t.Errorf("point %d: log density %.15g, want %.15g (%v)", i, lp, p.LP, err)
				}
				scale := 1.0 // gradients at the mode cancel
				for _, v := range p.Grad {
					scale = math.Max(scale, math.Abs(v))
				}
				for k, w := range p.Grad {
					if math.Abs(g[k]-w) > c.tol*scale {
						t.Errorf("point %d: gradient %d is %.15g, want %.15g", i, k, g[k], w)
					}
				}
			}
			fit := mustSample(t, choose(post, c.pairs...), Config{Seed: 1})
			t.Logf("moments within %.1f standard errors, %d divergences", checkMoments(t, fit, &want), fit.Divergent())
		})
	}
}
