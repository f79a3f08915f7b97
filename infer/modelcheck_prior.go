// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
)

var standardNormal = distuv.UnitNormal

// priors judges where the draws lie in the priors: at a draw from the posterior the
// place of a parameter in its prior is uniform, if the data come from the model. It is the rank among draws from the
// prior where the distribution has no CDF, and a prior without either is noted. The
// p-value is the median of the draws', two-sided; for arrays, of the farthest element.
// The shift is how far the posterior mean moves, to first order, when the prior is
// taken away: the covariance of parameter and log prior.
//
// References: Evans and Moshonov 2006, doi 10.1214/06-BA129; Kallioinen, Paananen,
// Bürkner and Vehtari 2023, doi 10.1007/s11222-023-10366-5.
func (c *modelCheck) priors(rows []drawAt) (out []check.Prior, notes []check.Flag, err error) {
	prog, judged, err := c.p.priorProgram()
	if err != nil || len(judged) == 0 {
		return nil, nil, err
	}
	s := c.p.state(prog)
	tracks := make([]*priorTrack, len(judged))
	for i, k := range judged {
		tracks[i] = &priorTrack{param: c.p.model.params[k]}
	}
	for _, at := range rows {
		row, from := c.f.Row(at.chain, at.draw), 0
		for i, q := range c.p.model.params {
			copy(s.Input(i), row[from:from+q.node.Size()])
			from += q.node.Size()
		}
		for i, l := range c.p.model.latents {
			from += copy(s.Input(len(c.p.model.params)+len(c.p.model.data)+i), row[from:from+l.node.Size()])
		}
		if err := s.Run(); err != nil {
			return nil, nil, fmt.Errorf("infer: model check: priors: %w", err)
		}
		k := 0
		for i, t := range tracks {
			theta := make([][]float64, len(t.param.prior.Params))
			for j := range theta {
				theta[j] = s.Output(k + j)
			}
			if err := t.take(s.Input(judged[i]), theta, s.Output(k+len(theta))); err != nil {
				return nil, nil, err
			}
			k += len(theta) + 1
		}
	}
	for _, t := range tracks {
		out = append(out, t.prior())
	}
	c.groups, c.tracks = groups(tracks), tracks
	return out, append(unranked(tracks), silent(tracks)...), nil
}

// priorProgram computes the parameters of the priors and the log priors, of the
// parameters whose prior is a scalar distribution.
func (p *Posterior) priorProgram() (*ad.Program, []int, error) {
	m := p.model
	var inputs, outputs []*ad.Node
	var judged []int
	for i, q := range m.params {
		inputs = append(inputs, q.node)
		if q.flat || q.prior.Event > 0 || q.node.Size() == 0 {
			continue
		}
		judged = append(judged, i)
		outputs = append(append(outputs, q.prior.Params...), q.logPrior())
	}
	if len(judged) == 0 {
		return nil, nil, nil
	}
	for _, d := range m.data {
		inputs = append(inputs, d.node)
	}
	for _, l := range m.latents {
		inputs = append(inputs, l.node)
	}
	prog, err := m.program(ad.CPU{Threads: 1}, outputs, inputs)
	if err != nil {
		return nil, nil, fmt.Errorf("infer: model check: priors: %w", err)
	}
	return prog, judged, nil
}

// priorTrack collects what draws say of one prior.
type priorTrack struct {
	param        *param
	distribution string
	// p holds the tail probability of each draw.
	p []float64
	// far is the number of the element that is farthest in the prior, for each draw.
	far []int
	// values holds the elements of each draw.
	values [][]float64
	// logs holds the log priors of the elements of each draw.
	logs [][]float64
	// z holds the places in the prior as normal scores, for each draw.
	z [][]float64
	// theta are the parameters of the distribution at the first draw.
	theta [][]float64
	// varies is true where these depend on other parameters.
	varies bool
	// ranks holds draws from a prior without a CDF.
	ranks *priorRanks
	// why says why a prior without a CDF was not judged.
	why string
}

func (t *priorTrack) take(x []float64, theta [][]float64, log []float64) error {
	z := make([]float64, len(x))
	err := t.param.prior.Scores(z, x, t.param.node.Shape(), theta, nil)
	if err != nil && !t.ranked(z, x, theta) { // no CDF
		return nil
	}
	if t.distribution == "" {
		t.distribution = distributionText(t.param.prior.Name, theta)
	}
	least, at := 1.0, 0
	for i, v := range z {
		if p := math.Erfc(math.Abs(v) / math.Sqrt2); p < least {
			least, at = p, i
		}
	}
	t.p, t.far = append(t.p, min(1, least*float64(len(z)))), append(t.far, at)
	t.values, t.logs = append(t.values, slices.Clone(x)), append(t.logs, slices.Clone(log))
	t.z = append(t.z, z)
	if t.theta == nil {
		for _, v := range theta {
			t.theta = append(t.theta, slices.Clone(v))
		}
	}
	t.varies = t.varies || !slices.EqualFunc(theta, t.theta, slices.Equal[[]float64])
	return nil
}

// distributionText writes a prior with its numbers, where it has the same for all elements.
func distributionText(name string, theta [][]float64) string {
	var args []string
	for _, v := range theta {
		if len(v) != 1 {
			return name
		}
		args = append(args, fmt.Sprintf("%.4g", v[0]))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// prior sums up. A distribution with neither CDF nor draws passes.
func (t *priorTrack) prior() check.Prior {
	name := t.param.name
	if len(t.p) == 0 || t.why != "" {
		return check.Prior{Name: name, P: 1}
	}
	sorted := slices.Clone(t.p)
	slices.Sort(sorted)
	k := t.far[len(t.far)/2]
	if t.param.node.Size() > 1 {
		name = (&quantity{name, t.param.node, t.param.dims}).columns()[k]
	}
	value, shift, tail := t.moved(k)
	p := check.Prior{Name: name, Distribution: t.distribution, Value: value, P: sorted[len(sorted)/2], Shift: shift, Weak: t.param.weak}
	if t.ranks != nil {
		p.Draws = t.ranks.n
	}
	if !tail {
		p.P = 1
	}
	return p
}

// placed adds to the priors of single numbers their normal scores at a draw, with the
// widths in the unconstrained coordinates, by which data and prior are compared.
func (c *modelCheck) placed(priors []check.Prior, row int) []check.Prior {
	out := slices.Clone(priors)
	names := c.p.freeNames()
	for _, t := range c.tracks {
		k := slices.Index(names, t.param.name)
		i := slices.IndexFunc(out, func(p check.Prior) bool { return p.Name == t.param.name })
		if k < 0 || i < 0 || t.param.node.Size() != 1 || row >= len(t.z) {
			continue
		}
		if width := c.width(t, k); width < 0 {
			out[i].Score, out[i].Scale, out[i].Coordinate = -t.z[row][0], -width, t.param.name
		} else if width > 0 {
			out[i].Score, out[i].Scale, out[i].Coordinate = t.z[row][0], width, t.param.name
		}
	}
	return out
}

// moved returns the median of element k, by how many standard deviations its prior
// moved it, and whether it lies in a tail of it, where the density falls away from the
// middle. A prior that is flat where the draws lie and ends there acts by cutting them off:
// its shift is infinite.
func (t *priorTrack) moved(k int) (median, shift float64, tail bool) {
	n := float64(len(t.values))
	var x, l []float64
	var meanX, meanL, cov, varX, varL float64
	for i, v := range t.values {
		x, l = append(x, v[k]), append(l, t.logs[i][min(k, len(t.logs[i])-1)])
		meanX, meanL = meanX+x[i]/n, meanL+l[i]/n
	}
	for i := range x {
		cov += (x[i] - meanX) * (l[i] - meanL) / n
		varX += (x[i] - meanX) * (x[i] - meanX) / n
		varL += (l[i] - meanL) * (l[i] - meanL) / n
	}
	slices.Sort(x)
	median = x[len(x)/2]
	sd := math.Sqrt(varX)
	if low, high, err := dist.Range(t.param.prior); err == nil && (reaches(x, low, sd) || reaches(x, high, sd)) && math.Sqrt(varL) < 1e-9*max(1, math.Abs(meanL)) {
		return median, math.Inf(1), true
	}
	var at []float64
	for _, z := range t.z {
		at = append(at, z[k])
	}
	slices.Sort(at)
	toward := cov * at[len(at)/2] // below 0 where the density rises towards the middle
	if math.Abs(cov) <= 1e-9*sd*max(1, math.Abs(meanL)) {
		toward = 0
	}
	return median, -cov / sd, toward < 0
}

// Determined returns how many of the elements of some parameters the data determine, each in part: the sum of 1 - var(z), where z are the
// normal scores of the draws in the prior. For normal priors and data that is the trace of 1 - posterior covariance/prior covariance.
// Elements without a prior count as 1.
func (f *Fit) Determined(names ...string) (float64, error) {
	p, err := f.posterior()
	if err != nil {
		return 0, err
	}
	c := &modelCheck{p: p, f: f}
	if _, _, err := c.priors(f.thinnedDraws(mostPriorDraws)); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, q := range p.model.params {
		if !slices.Contains(names, q.name) {
			continue
		}
		i := slices.IndexFunc(c.tracks, func(t *priorTrack) bool { return t.param == q && len(t.z) > 1 })
		for k := range q.node.Size() {
			if sum++; i >= 0 {
				var scores []float64
				for _, z := range c.tracks[i].z {
					scores = append(scores, z[k])
				}
				sum -= min(1, stat.Variance(scores, nil))
			}
		}
	}
	return sum, nil
}

// reaches reports whether sorted draws go on up to an end of the prior, so that it cuts them off: of a density that is largest there about a
// twentieth lie within a tenth of the way from there to the median. That of a standard deviation, which cannot be 0, falls before.
func reaches(sorted []float64, end, sd float64) bool {
	way := math.Abs(sorted[len(sorted)/2] - end)
	if !(way < 4*sd) {
		return false
	}
	near := 0
	for _, x := range sorted {
		if math.Abs(x-end) < way/10 {
			near++
		}
	}
	return near > len(sorted)/100
}

// width is by how much unconstrained coordinate k grows with the normal score in the
// prior: the slope along the draws. It is NaN where the scores are not finite.
func (c *modelCheck) width(t *priorTrack, k int) float64 {
	var score, place []float64
	for i, z := range t.z {
		score, place = append(score, z[0]), append(place, c.free[i][k])
	}
	return stat.Covariance(score, place, nil) / stat.Variance(score, nil)
}

// joined joins names in a sentence.
func joined(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// mostEigen is how many parameters are looked at for combinations.
const mostEigen = 30

// likePrior is the share of the prior's twentieths that draws have to visit if their distribution is the prior's: narrow modes far
// from each other may be as wide as the prior together.
const likePrior = 0.85

// spreadAsPrior reports whether normal scores along a direction lie everywhere where the prior's lie.
func spreadAsPrior(scores *mat.Dense, along mat.Vector) bool {
	n, _ := scores.Dims()
	var z mat.VecDense
	z.MulVec(scores, along)
	var visited [20]bool
	for i := range n {
		visited[min(19, int(20*distuv.UnitNormal.CDF(z.AtVec(i))))] = true
	}
	count := 0
	for _, v := range visited {
		if v {
			count++
		}
	}
	return float64(count) >= likePrior*float64(len(visited))
}

// silent notes parameters, and combinations of them, whose posterior is as wide as the
// prior: the eigenvectors of the covariance of their normal scores, which is 1 in the
// prior, with eigenvalues near 1.
func silent(tracks []*priorTrack) (notes []check.Flag) {
	tracks = slices.DeleteFunc(slices.Clone(tracks), func(t *priorTrack) bool { return t.param.node.Size() != 1 || len(t.z) < 100 || t.varies })
	k := len(tracks)
	if k == 0 || k > mostEigen {
		return nil
	}
	scores := mat.NewDense(len(tracks[0].z), k, nil)
	for j, t := range tracks {
		for i, z := range t.z {
			scores.Set(i, j, z[0])
		}
	}
	var vectors mat.Dense
	var eigen mat.EigenSym
	sym := mat.NewSymDense(k, nil)
	stat.CovarianceMatrix(sym, scores, nil)
	if !eigen.Factorize(sym, true) {
		return nil
	}
	eigen.VectorsTo(&vectors)
	for j, width := range eigen.Values(nil) {
		if width < 0.95*0.95 || !spreadAsPrior(scores, vectors.ColView(j)) {
			continue
		}
		var names []string
		for i, t := range tracks {
			if math.Abs(vectors.At(i, j)) > 0.3 {
				names = append(names, t.param.name)
			}
		}
		text := fmt.Sprintf("the data say almost nothing about the balance between %s: one can grow at the expense of another, and only the priors constrain it", joined(names))
		if len(names) == 1 {
			t := tracks[slices.IndexFunc(tracks, func(t *priorTrack) bool { return t.param.name == names[0] })]
			text = fmt.Sprintf("the data say almost nothing about %s: its posterior is as wide as its prior %s", names[0], t.distribution)
		}
		notes = append(notes, check.Flag{Kind: check.KindUnknown, Where: strings.Join(names, ", "), Note: true, Text: text})
	}
	return notes
}
