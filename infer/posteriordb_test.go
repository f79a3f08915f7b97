// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/ode"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
)

// dataFile is the data of a reference posterior.
type dataFile map[string]any

func (d dataFile) num(name string) float64 { return d[name].(float64) }

// vec returns an array, flattened row-major.
func (d dataFile) vec(name string) []float64 { return flat(d[name]) }

func flat(v any) (out []float64) {
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case []any:
		for _, x := range v {
			out = append(out, flat(x)...)
		}
	}
	return out
}

// columns makes a row-major design of an intercept and columns.
func columns(cols ...[]float64) (x []float64, shape Option) {
	for i := range cols[0] {
		x = append(x, 1)
		for _, c := range cols {
			x = append(x, c[i])
		}
	}
	return x, Shape(len(cols[0]), len(cols)+1)
}

func dummy(v []float64, level float64) []float64 {
	return mapped(v, func(x float64) float64 { return truth(x == level) })
}

func logs(v []float64) []float64 { return mapped(v, math.Log) }

func mapped(v []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

// lacks returns the part of our log density at q that a reference point leaves
// out, and takes its gradient from g.
type lacks func(q, g []float64) float64

// cuts counts priors cut at 0, which Stan does not renormalise.
func cuts(n int) lacks { return func(_, _ []float64) float64 { return float64(n) * math.Ln2 } }

// squareOfTau is the square in the LogNormal(0, 2) prior of the first tau. The
// points of some g2 files leave it out, against the model they state (the formula
// evaluated apart, and the points of xpcs/logdensity, have it).
func squareOfTau(q, g []float64) float64 {
	g[0] += q[0] / 4
	return -q[0] * q[0] / 8
}

func decay(contrast, x, tau *ad.Node) *ad.Node {
	return ad.Mul(contrast, ad.Exp(ad.Div(ad.Scale(-2, x), tau)))
}

// flatRegression is y ~ N(X beta, sigma) without priors.
func flatRegression(m *Model, x []float64, shape Option, y []float64) (sigma *ad.Node) {
	k := shape.shape[1]
	b := m.Flat("beta", dist.IdentityTransform(), Shape(k))
	sigma = m.Flat("sigma", dist.LowerTransform(0))
	m.Observe("y", dist.Normal(ad.MatMul(m.Data("X", x, shape), b), sigma), y)
	return sigma
}

// builder makes the posterior of a model from the data of a file. A model is known by
// its name: the file describes it in words.
type builder struct {
	model  string  // the name of a file without that of the data set: posteriordb's DATA-MODEL
	of     string  // the model whose files have the data where there are no references, "" for model
	rhat   float64 // largest, 0 for 1.01
	tol    float64 // of gradients at the points, 0 for 1e-9; they cancel near the mode, where rstan's are off by 2e-9
	seeds  int     // runs of the slow tests, 0 for 3, or 1 of costly ones; the quick tests make fewer
	costly bool    // only the slow tests sample it, the quick ones look at the points
	share  float64 // of the draws per gradient of the reference implementation that is wanted, 0 for 0.9
	target float64 // acceptance, 0 for the default: at that half of the seeds miss rhat
	// draws is the number of draws per chain, 0 for the default.
	draws  int
	some   int // divergences in all runs that are no fault, see docs/decisions/0002
	lacks  lacks
	fault  lacks // what the points may leave out by mistake
	build  func(m *Model, d dataFile)
	points func(m *Model, d dataFile) // for the points, nil for build
}

var builders = []builder{
	{model: "eight_schools_noncentered", lacks: cuts(1), seeds: 40, some: 20, build: func(m *Model, d dataFile) {
		z := m.Param("z", dist.Normal(0, 1), Shape(len(d.vec("y"))))
		mu := m.Param("mu", dist.Normal(0, 5))
		tau := m.Param("tau", dist.HalfCauchy(5))
		theta := m.Deterministic("theta", ad.Add(mu, ad.Mul(tau, z)))
		m.Observe("y", dist.Normal(theta, m.Data("sd", d.vec("sigma"))), d.vec("y"))
	}},
	{model: "arK", lacks: cuts(1), build: func(m *Model, d dataFile) {
		lags := int(d.num("K"))
		alpha := m.Param("alpha", dist.Normal(0, 10))
		beta := m.Param("beta", dist.Normal(0, 10), Shape(lags))
		sigma := m.Param("sigma", dist.HalfCauchy(2.5))
		y := d.vec("y")
		var x []float64
		for t := lags; t < len(y); t++ {
			for k := range lags {
				x = append(x, y[t-k-1])
			}
		}
		m.Observe("y", dist.Normal(ad.Add(alpha, ad.MatMul(m.Data("past", x, Shape(len(y)-lags, lags)), beta)), sigma), y[lags:])
	}},
	{model: "garch11", build: func(m *Model, d dataFile) {
		mu := m.Flat("mu", dist.IdentityTransform())
		alpha0 := m.Flat("alpha0", dist.LowerTransform(0))
		alpha1 := m.Flat("alpha1", dist.IntervalTransform(0, 1))
		beta1 := m.Flat("beta1", dist.IntervalTransform(0, ad.Sub(ad.Scalar(1), alpha1)))
		y := m.Data("past", d.vec("y"))
		n, s1 := len(d.vec("y")), d.num("sigma1")
		shock := ad.Slice(ad.Add(alpha0, ad.Mul(alpha1, ad.Square(ad.Sub(y, mu)))), 0, 0, n-1)
		later := ad.LinearScan(ad.Broadcast(beta1, n-1), shock, ad.Scalar(s1*s1), 0, false)
		m.Observe("y", dist.Normal(mu, ad.Sqrt(ad.Concat(0, ad.Const([]float64{s1 * s1}), later))), d.vec("y"))
	}},
	{model: "gp_regr", lacks: cuts(2), rhat: 1.02, build: func(m *Model, d dataFile) {
		rho := m.Param("rho", dist.Gamma(25, 4))
		alpha := m.Param("alpha", dist.HalfNormal(2))
		sigma := m.Param("sigma", dist.HalfNormal(1))
		x := d.vec("x")
		k := ad.Add(squaredExponential(x, alpha, rho), ad.DiagMatrix(ad.Broadcast(sigma, len(x))))
		m.AddLogProb("y", normalCholesky(ad.Const(d.vec("y")), ad.Cholesky(k)))
	}},
	{model: "gp_pois_regr", costly: true, of: "gp_regr", rhat: 1.02, some: 20, target: 0.95, draws: 4000, build: func(m *Model, d dataFile) {
		rho := m.Param("rho", dist.Gamma(25, 4))
		alpha := m.Param("alpha", dist.HalfNormal(2))
		x := d.vec("x")
		n := len(x)
		f := m.Param("f_tilde", dist.Normal(0, 1), Shape(n))
		k := ad.Add(squaredExponential(x, alpha, rho), ad.DiagMatrix(ad.Full(1e-10, n)))
		rate := ad.Reshape(ad.MatMul(ad.Cholesky(k), ad.Reshape(f, n, 1)), n)
		count := d.vec("k")
		m.AddLogProb("k", ad.Sub(ad.Mul(ad.Const(count), rate), ad.Exp(rate)))
	}},
	{model: "low_dim_gauss_mix", costly: true, lacks: cuts(2), build: func(m *Model, d dataFile) {
		mu := m.Flat("mu", dist.OrderedTransform(), Shape(2))
		m.AddLogProb("prior of mu", dist.Normal(0, 2).LogProb(mu))
		sigma := m.Param("sigma", dist.HalfNormal(2), Shape(2))
		theta := m.Param("theta", dist.Beta(5, 5))
		y := m.Data("y", d.vec("y"))
		part := func(i int) *ad.Node { return dist.Normal(ad.Index(mu, 0, i), ad.Index(sigma, 0, i)).LogProb(y) }
		m.AddLogProb("likelihood", ad.LogAddExp(ad.Add(ad.Log(theta), part(0)), ad.Add(ad.Log1p(ad.Neg(theta)), part(1))))
	}},
	{model: "hmm_example", build: func(m *Model, d dataFile) {
		theta1 := m.Flat("theta1", dist.SimplexTransform(), Shape(2))
		theta2 := m.Flat("theta2", dist.SimplexTransform(), Shape(2))
		mu := m.Flat("mu", dist.PositiveOrderedTransform(), Shape(2))
		m.AddLogProb("prior of mu", dist.Normal(ad.Const([]float64{3, 10}), 1).LogProb(mu))
		n := len(d.vec("y"))
		emission := dist.Normal(mu, 1).LogProb(m.Data("y", d.vec("y"), Shape(n, 1)))
		m.AddLogProb("likelihood", HMMForward(ad.Const([]float64{0, 0}), ad.Log(ad.Stack(0, theta1, theta2)), emission))
	}},
	{model: "blr", tol: 1e-8, lacks: cuts(1), build: func(m *Model, d dataFile) {
		columns := int(d.num("D"))
		beta := m.Param("beta", dist.Normal(0, 10), Shape(columns))
		sigma := m.Param("sigma", dist.HalfNormal(10))
		m.Observe("y", dist.Normal(ad.MatMul(m.Data("X", d.vec("X"), Shape(len(d.vec("y")), columns)), beta), sigma), d.vec("y"))
	}},
	{model: "earn_height", build: func(m *Model, d dataFile) {
		x, shape := columns(d.vec("height"))
		flatRegression(m, x, shape, d.vec("earn"))
	}},
	{model: "nes", costly: true, build: func(m *Model, d dataFile) {
		age := d.vec("age_discrete")
		x, shape := columns(d.vec("real_ideo"), d.vec("race_adj"), dummy(age, 2), dummy(age, 3), dummy(age, 4), d.vec("educ1"), d.vec("gender"), d.vec("income"))
		flatRegression(m, x, shape, d.vec("partyid7"))
	}},
	{model: "kidscore_interaction", build: func(m *Model, d dataFile) {
		hs, iq := d.vec("mom_hs"), d.vec("mom_iq")
		both := make([]float64, len(hs))
		for i := range hs {
			both[i] = hs[i] * iq[i]
		}
		x, shape := columns(hs, iq, both)
		sigma := flatRegression(m, x, shape, d.vec("kid_score"))
		m.AddLogProb("prior of sigma", dist.Cauchy(0, 2.5).LogProb(sigma))
	}},
	{model: "kilpisjarvi", tol: 1e-8, build: func(m *Model, d dataFile) {
		alpha := m.Param("alpha", dist.Normal(d.num("pmualpha"), d.num("psalpha")))
		beta := m.Param("beta", dist.Normal(d.num("pmubeta"), d.num("psbeta")))
		sigma := m.Flat("sigma", dist.LowerTransform(0))
		m.Observe("y", dist.Normal(ad.Add(alpha, ad.Mul(beta, m.Data("x", d.vec("x")))), sigma), d.vec("y"))
	}},
	{model: "logmesquite", build: func(m *Model, d dataFile) {
		x, shape := columns(logs(d.vec("diam1")), logs(d.vec("diam2")), logs(d.vec("canopy_height")), logs(d.vec("total_height")), logs(d.vec("density")), d.vec("group"))
		flatRegression(m, x, shape, logs(d.vec("weight")))
	}},
	{model: "lotka_volterra", costly: true, tol: 1e-6, build: lotkaVolterra(1e-6), points: lotkaVolterra(1e-9)},
	// On average of 60 seeds it makes 0.0047 draws per gradient, 0.88 of the 0.0053 that two
	// single chains of the reference implementation made (docs/decisions/0002). Its one
	// seed here is a lucky one: 0.8 guards against a fall, it does not show that 0.8 is held.
	{model: "irt_2pl", costly: true, share: 0.8, rhat: 1.02, some: 2, lacks: cuts(3), build: func(m *Model, d dataFile) {
		items, people := int(d.num("I")), int(d.num("J"))
		st := m.Param("sigma_theta", dist.HalfCauchy(2))
		theta := m.Param("theta", dist.Normal(0, st), Shape(people))
		sa := m.Param("sigma_a", dist.HalfCauchy(2))
		a := m.Param("a", dist.LogNormal(0, sa), Shape(items))
		mub := m.Param("mu_b", dist.Normal(0, 5))
		sb := m.Param("sigma_b", dist.HalfCauchy(2))
		b := m.Param("b", dist.Normal(mub, sb), Shape(items))
		eta := ad.Mul(ad.Reshape(a, items, 1), ad.Sub(ad.Reshape(theta, 1, people), ad.Reshape(b, items, 1)))
		y := m.Data("y", d.vec("y"), Shape(items, people))
		m.AddLogProb("likelihood", ad.Sub(ad.Mul(y, eta), ad.Softplus(eta)))
	}},
	{model: "diamonds", costly: true, tol: 1e-8, build: func(m *Model, d dataFile) {
		n := len(d.vec("Y"))
		x, k := d.vec("X"), len(d.vec("X"))/n
		var centred []float64
		for i := range n {
			centred = append(centred, x[i*k+1:(i+1)*k]...)
		}
		for j := range k - 1 {
			mean := 0.0
			for i := range n {
				mean += centred[i*(k-1)+j] / float64(n)
			}
			for i := range n {
				centred[i*(k-1)+j] -= mean
			}
		}
		b := m.Param("b", dist.Normal(0, 1), Shape(k-1))
		intercept := m.Param("Intercept", dist.StudentT(3, 8, 10))
		sigma := m.Flat("sigma", dist.LowerTransform(0))
		m.AddLogProb("prior of sigma", ad.Shift(dist.StudentT(3, 0, 10).LogProb(sigma), math.Ln2))
		m.Observe("Y", dist.Normal(ad.Add(intercept, ad.MatMul(m.Data("X", centred, Shape(n, k-1)), b)), sigma), d.vec("Y"))
	}},
	{model: "g2_single_exp", tol: 2e-8, fault: squareOfTau, build: func(m *Model, d dataFile) {
		x := m.Data("x", d.vec("x"))
		tau := m.Param("tau", dist.LogNormal(0, 2))
		base := m.Param("baseline", dist.Normal(1, 0.1))
		contrast := m.Param("contrast", dist.HalfNormal(1))
		m.Observe("y", dist.Normal(ad.Add(base, decay(contrast, x, tau)), m.Data("yerr", d.vec("yerr"))), d.vec("y"))
	}},
	{model: "g2_double_exp", tol: 2e-8, fault: squareOfTau, build: func(m *Model, d dataFile) {
		x := m.Data("x", d.vec("x"))
		tau1 := m.Param("tau1", dist.LogNormal(0, 2))
		factor := m.Param("tau2_factor", dist.LogNormal(0, 1))
		tau2 := m.Deterministic("tau2", ad.Mul(tau1, ad.Shift(factor, 1)))
		base := m.Param("baseline", dist.Normal(1, 0.1))
		c1, c2 := m.Param("contrast1", dist.HalfNormal(0.5)), m.Param("contrast2", dist.HalfNormal(0.5))
		m.Observe("y", dist.Normal(ad.AddN(base, decay(c1, x, tau1), decay(c2, x, tau2)), m.Data("yerr", d.vec("yerr"))), d.vec("y"))
	}},
}

// lotkaVolterra solves its equations to a tolerance.
func lotkaVolterra(tol float64) func(m *Model, d dataFile) {
	return func(m *Model, d dataFile) {
		theta := m.Flat("theta", dist.LowerTransform(0), Shape(4))
		m.AddLogProb("prior of theta", dist.Normal(ad.Const([]float64{1, 0.05, 1, 0.05}), ad.Const([]float64{0.5, 0.05, 0.5, 0.05})).LogProb(theta))
		z0 := m.Param("z_init", dist.LogNormal(math.Log(10), 1), Shape(2))
		sigma := m.Param("sigma", dist.LogNormal(-1, 1), Shape(2))
		rates := func(_ *ad.Node, y, p []*ad.Node) []*ad.Node {
			return []*ad.Node{ad.Mul(ad.Sub(p[0], ad.Mul(p[1], y[1])), y[0]), ad.Mul(ad.Sub(ad.Mul(p[3], y[0]), p[2]), y[1])}
		}
		z := ode.Solve(rates, z0, 0, d.vec("ts"), theta, ode.Settings{RTol: tol, ATol: tol, MaxSteps: 2000})
		m.Observe("y_init", dist.LogNormal(ad.Log(z0), sigma), d.vec("y_init"))
		m.Observe("y", dist.LogNormal(ad.Log(z), sigma), d.vec("y"), Shape(len(d.vec("ts")), 2))
	}
}

// squaredExponential is the covariance alpha^2 exp(-(x-x')^2/(2 rho^2)).
func squaredExponential(x []float64, alpha, rho *ad.Node) *ad.Node {
	var apart []float64
	for _, a := range x {
		for _, b := range x {
			apart = append(apart, -(a-b)*(a-b)/2)
		}
	}
	return ad.Mul(ad.Square(alpha), ad.Exp(ad.Div(ad.Const(apart, len(x), len(x)), ad.Square(rho))))
}

// normalCholesky is the log density of N(0, L L^T) at y.
func normalCholesky(y, l *ad.Node) *ad.Node {
	n := y.Size()
	z := ad.SolveTriangular(l, ad.Reshape(y, n, 1), true, false)
	return ad.Shift(ad.Sub(ad.Scale(-0.5, ad.Sum(ad.Square(z))), ad.Sum(ad.Log(ad.Diag(l)))), -float64(n)*halfLog2Pi)
}

// referenced shows the columns of a Posterior that a reference knows, under its
// names, which count from 1.
type referenced struct {
	*Posterior
	names []string
	from  []int
	row   []float64
}

var place = regexp.MustCompile(`\[(\d+)\]$`)

func reference(p *Posterior, want *posterior) *referenced {
	s := &referenced{Posterior: p, row: make([]float64, p.Len())}
	for i, name := range p.Names() {
		name = place.ReplaceAllStringFunc(name, func(k string) string {
			n, err := strconv.Atoi(k[1 : len(k)-1])
			if err != nil {
				panic(err)
			}
			return "[" + strconv.Itoa(n+1) + "]"
		})
		if _, known := want.Reference.Parameters[name]; known || want.Reference.Parameters == nil {
			s.names, s.from = append(s.names, name), append(s.from, i)
		}
	}
	return s
}

func (s *referenced) Clone() Target {
	return &referenced{s.Posterior.Clone().(*Posterior), s.names, s.from, make([]float64, len(s.row))}
}
func (s *referenced) Names() []string { return s.names }
func (s *referenced) Len() int        { return len(s.names) }
func (s *referenced) Write(q, out []float64) error {
	err := s.Posterior.Write(q, s.row)
	for i, k := range s.from {
		out[i] = s.row[k]
	}
	return err
}

// problem is a posterior of the reference, with the effective draws per gradient and
// microseconds per gradient of rstan and the effective draws per gradient of the
// reference implementation of the low-rank metric, 0 where not known.
type problem struct {
	builder
	name, file     string
	rstan, us, aim float64
}

// problems lists the posteriors of the reference that have a builder.
func problems(t testing.TB) (list []problem) {
	t.Helper()
	stan, own := peers(t)
	for _, file := range golden.Having(t, "inference/posteriors/*.json", "name", "model", "data") {
		var f struct{ Name string }
		golden.JSON(t, &f, file)
		data, model, composed := strings.Cut(f.Name, "-")
		if !composed {
			data, model = "", f.Name
		}
		known := false
		for _, b := range builders {
			if model != b.model && model != b.of {
				continue
			}
			known = true
			p := problem{builder: b, name: f.Name, file: file}
			if b.of != "" {
				p.name = data + "-" + b.model
			}
			p.rstan, p.us = stan[p.name].ESS, stan[p.name].Microseconds
			for _, key := range []string{p.name, b.model, data} {
				p.aim = max(p.aim, own[key])
			}
			list = append(list, p)
		}
		if !known {
			t.Logf("%s is not compared: there is no builder of the model %s", f.Name, model)
		}
	}
	return list
}

// peerFigures are those of rstan.
type peerFigures struct {
	ESS          float64 `json:"ess_per_total_gradient"`
	Microseconds float64 `json:"fastest_us_per_gradient"`
}

// peers reads what other samplers reach, nothing where the reference does not say.
func peers(t testing.TB) (stan map[string]peerFigures, own map[string]float64) {
	t.Helper()
	own = map[string]float64{}
	if golden.Has(t, "inference/stan_2_21_peer.json") {
		golden.JSON(t, &stan, "inference/stan_2_21_peer.json")
	}
	if golden.Has(t, "inference/peer_gradient_efficiency.json") {
		var f struct {
			Results map[string]map[string]peerFigures
		}
		golden.JSON(t, &f, "inference/peer_gradient_efficiency.json")
		for name, r := range f.Results {
			own[name] = r["fisher_lr"].ESS
		}
	}
	return stan, own
}

// built compiles a posterior of the reference.
func (c *problem) built(t testing.TB, build func(m *Model, d dataFile)) (*Posterior, *posterior) {
	t.Helper()
	var file struct {
		posterior
		Data dataFile
	}
	golden.JSON(t, &file, c.file)
	m := NewModel(c.name)
	build(m, file.Data)
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if c.of != "" {
		file.posterior = posterior{}
	}
	return p, &file.posterior
}

// Posteriors of posteriordb and of g2 at the default settings: log densities and
// gradients of rstan; moments of reference draws within 5 standard errors; R-hat;
// no divergences where rstan has none; more effective draws per gradient than
// rstan and 0.9 of those of the reference implementation of the metric (less where
// the builder says so), on average of the seeds. The quick tests make a run or a
// few, whose draws per gradient scatter, and want 0.75 of that.
func TestPosteriors(t *testing.T) {
	for _, c := range problems(t) {
		t.Run(c.name, func(t *testing.T) {
			post, want := c.built(t, c.build)
			if testing.Short() && post.Dim() > 3 {
				t.Skip("takes seconds")
			}
			exact := post
			if c.points != nil {
				exact, _ = c.built(t, c.points)
			}
			checkPoints(t, exact, want, c.omitted(t, exact, want), c.tol)
			target := reference(post, want)
			if c.of == "" && len(target.names) != len(want.Reference.Parameters) {
				t.Errorf("%d of %d reference columns: %v", len(target.names), len(want.Reference.Parameters), target.names)
			}
			if c.costly && !tier.Slow {
				t.Log("sampled with the tag slow only")
				return
			}
			seeds, goal := c.runs(post.Dim())
			perGradient, worst, divergent := 0.0, 0.0, 0
			for seed := range seeds {
				fit := mustSample(t, target, Settings{Seed: uint64(seed), TargetAccept: c.target, Draws: c.draws})
				worst = math.Max(worst, checkMoments(t, fit, want, max(c.rhat, 1.01)))
				perGradient += leastESS(fit) / float64(seeds)
				divergent += fit.Divergent()
				for _, a := range fit.Diagnose().Problems() {
					if a.Check == diag.CheckModes {
						t.Errorf("seed %d: %s", seed, a)
					}
				}
			}
			if perGradient < goal {
				t.Errorf("%.4f effective draws per gradient, want %.4f", perGradient, goal)
			}
			if divergent > c.some {
				t.Errorf("%d divergences in %d runs", divergent, seeds)
			}
			t.Logf("%.4f effective draws per gradient in %d runs (rstan %.4f, reference %.4f), moments within %.1f standard errors, %d divergences",
				perGradient, seeds, c.rstan, c.aim, worst, divergent)
		})
	}
}

// runs returns how many runs a posterior gets and how many effective draws per
// gradient they shall make on average.
func (c *problem) runs(dim int) (seeds int, goal float64) {
	share := c.share
	if share == 0 {
		share = 0.9
	}
	goal = max(c.rstan, share*c.aim)
	seeds = c.seeds
	switch {
	case seeds > 0:
	case c.aim == 0 || dim > 20:
		seeds = 1
	default:
		seeds = 3
	}
	if !tier.Slow {
		seeds, goal = (seeds+9)/10, 0.75*goal
	}
	return seeds, goal
}

// omitted returns what the points leave out: by mistake too if the first one does.
func (c *problem) omitted(t *testing.T, post *Posterior, want *posterior) lacks {
	t.Helper()
	if c.fault == nil || len(want.Checks.Points) == 0 {
		return c.lacks
	}
	p, g := want.Checks.Points[0], make([]float64, post.Dim())
	lp, err := post.LogProbGrad(p.Q, g)
	if err != nil {
		t.Fatal(err)
	}
	if d := math.Abs(lp - p.LP); d <= 1e-9*math.Max(1, math.Abs(p.LP)) {
		return c.lacks
	}
	t.Logf("%s: the points leave out a term of the model", c.name)
	return c.fault
}

// checkPoints compares log density and gradient with those of rstan.
func checkPoints(t *testing.T, post *Posterior, want *posterior, lacks lacks, tol float64) {
	t.Helper()
	g := make([]float64, post.Dim())
	for i, p := range want.Checks.Points {
		lp, err := post.LogProbGrad(p.Q, g)
		if lacks != nil {
			lp -= lacks(p.Q, g)
		}
		if err != nil || math.Abs(lp-p.LP) > 1e-9*math.Max(1, math.Abs(p.LP)) {
			t.Errorf("point %d: log density %.15g, want %.15g (%v)", i, lp, p.LP, err)
		}
		scale := 1.0 // gradients at the mode cancel
		for _, v := range p.Grad {
			scale = math.Max(scale, math.Abs(v))
		}
		for k, w := range p.Grad {
			if math.Abs(g[k]-w) > max(tol, 1e-9)*scale {
				t.Errorf("point %d: gradient %d is %.15g, want %.15g", i, k, g[k], w)
			}
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
func checkMoments(t *testing.T, fit *Fit, want *posterior, rhat float64) (worst float64) {
	t.Helper()
	for _, r := range fit.Summary().Rows {
		if !(r.RHat < rhat) {
			t.Errorf("R-hat of %s is %g", r.Name, r.RHat)
		}
		ref, ok := want.Reference.Parameters[r.Name]
		if want.Reference.Parameters == nil {
			continue
		}
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
	}
	return worst
}

// BenchmarkPosteriors prints what a sampler is judged by, beside rstan's figures
// of another day: gradients, effective draws per gradient, time per gradient and
// effective draws per second, all with the warm-up, on one core.
func BenchmarkPosteriors(b *testing.B) {
	for _, c := range problems(b) {
		b.Run(c.name, func(b *testing.B) {
			post, want := c.built(b, c.build)
			target := reference(post, want)
			gradients, seconds, ess := 0, 0.0, 0.0
			for seed := uint64(0); b.Loop(); seed++ {
				fit, err := Sample(b.Context(), target, Settings{Seed: seed, Parallel: 1})
				if err != nil {
					b.Fatal(err)
				}
				w, s := fit.Gradients()
				gradients, seconds = gradients+w+s, seconds+fit.Elapsed.Seconds()
				ess += leastESS(fit) * float64(w+s)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(gradients)/float64(b.N), "gradients")
			b.ReportMetric(ess/float64(gradients), "ESS/gradient")
			b.ReportMetric(seconds*1e6/float64(gradients), "us/gradient")
			b.ReportMetric(ess/seconds, "ESS/s")
			if c.rstan > 0 {
				b.ReportMetric(ess/float64(gradients)/c.rstan, "x-rstan-ESS/gradient")
				b.ReportMetric(c.us*float64(gradients)/(seconds*1e6), "x-rstan-us/gradient")
			}
		})
	}
}
