package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/optim"
)

func (a *app) fitNLSQ() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "nlsq --problem FILE.json",
		Short: "Fit a formula to columns of numbers",
		Long: `Fit a formula to columns of numbers by nonlinear least squares.

  {"expr": "b1*(1-exp(-b2*x))", "data": {"x": [...], "y": [...]}, "y": "y",
   "start": {"b1": 500, "b2": 1e-4}}

Optional: "sigma" (a column of errors), "bounds" {"b1": [0, null]}, "fixed"
{"b1": 3}, "tied" {"b3": "2*b1"}, "loss" (linear, soft_l1, huber, cauchy,
arctan) with "f_scale", "method" (lm, trf, dogbox), "absolute_sigma" (default
true with sigma, else false), "ftol", "xtol", "gtol", "max_nfev". "y" may be a
formula of columns, such as log(y).

  euryale fit nlsq --problem misra1a.json --json
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runFitNLSQ(c.Context(), path) },
	}
	c.Flags().StringVar(&path, "problem", "", "JSON file with the problem, - for standard input")
	if err := c.MarkFlagRequired("problem"); err != nil {
		panic(err)
	}
	return c
}

// problemFile is the document that fit nlsq reads.
type problemFile struct {
	Expr     string               `json:"expr"`
	Data     map[string][]number  `json:"data"`
	Y        string               `json:"y"`
	Sigma    string               `json:"sigma"`
	Start    map[string]float64   `json:"start"`
	Bounds   map[string][]*number `json:"bounds"`
	Fixed    map[string]float64   `json:"fixed"`
	Tied     map[string]string    `json:"tied"`
	Loss     string               `json:"loss"`
	FScale   float64              `json:"f_scale"`
	Method   string               `json:"method"`
	Absolute *bool                `json:"absolute_sigma"`
	FTol     float64              `json:"ftol"`
	XTol     float64              `json:"xtol"`
	GTol     float64              `json:"gtol"`
	MaxNFev  int                  `json:"max_nfev"`
}

func (a *app) runFitNLSQ(ctx context.Context, path string) error {
	f, err := readProblem(path)
	if err != nil {
		return err
	}
	p, err := f.problem()
	if err != nil {
		return as(exitData, fmt.Errorf("%s: %w", path, err))
	}
	s := optim.Settings{Method: optim.Method(f.Method), Loss: optim.Loss(f.Loss), LossScale: f.FScale, Fixed: f.Fixed,
		FTol: f.FTol, XTol: f.XTol, GTol: f.GTol, MaxEvaluations: f.MaxNFev, RelativeSigma: f.Sigma == ""}
	if f.Absolute != nil {
		s.RelativeSigma = !*f.Absolute
	}
	if s.Tied, err = f.ties(p); err != nil {
		return as(exitData, fmt.Errorf("%s: %w", path, err))
	}
	r, err := optim.LeastSquares(ctx, p, s)
	if ctx.Err() != nil {
		return as(exitInterrupted, err)
	}
	if err != nil {
		return as(exitData, fmt.Errorf("%s: %w", path, err))
	}
	if a.json {
		err = a.document(nlsqDocument(r))
	} else {
		_, err = fmt.Fprintln(a.stdout, r)
	}
	if err == nil && a.strict && !r.Status.Converged() {
		return as(exitFailed, fmt.Errorf("the fit did not converge: %s", r.Status.Message()))
	}
	return as(exitCannotWrite, err)
}

func readProblem(path string) (*problemFile, error) {
	var b []byte
	var err error
	if path == "-" {
		path = "/dev/stdin"
	}
	if b, err = os.ReadFile(path); err != nil {
		return nil, input(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var f problemFile
	if err := d.Decode(&f); err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w: see euryale fit nlsq --help", path, err))
	}
	return &f, nil
}

// problem builds the residual (model - y)/sigma.
func (f *problemFile) problem() (*optim.Problem, error) {
	model, err := formula.Parse(f.Expr)
	if err != nil {
		return nil, err
	}
	if f.Y == "" {
		f.Y = "y"
	}
	left, err := formula.Parse(f.Y)
	if err != nil {
		return nil, err
	}
	values, n, err := f.columns()
	if err != nil {
		return nil, err
	}
	var params []*ad.Node
	var names []string
	for name := range f.Start {
		if values[name] != nil {
			return nil, fmt.Errorf("%s is a column and a parameter", name)
		}
		if !slices.Contains(model.Names(), name) {
			return nil, fmt.Errorf("start has %s, which the formula %q does not use", name, f.Expr)
		}
		names = append(names, name)
	}
	for name := range f.Tied {
		if !slices.Contains(model.Names(), name) {
			return nil, fmt.Errorf("tied has %s, which the formula %q does not use", name, f.Expr)
		}
		if _, ok := f.Start[name]; !ok { // its value follows from the others
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool { return natural(names[i], names[j]) })
	for _, name := range names {
		values[name] = ad.Input(name)
		params = append(params, values[name])
	}
	y, err := left.Node(values)
	if err != nil {
		return nil, err
	}
	m, err := model.Node(values)
	if err != nil {
		return nil, fmt.Errorf("%w: give it a start or a column", err)
	}
	r := ad.Broadcast(ad.Sub(m, y), n)
	if f.Sigma != "" {
		sigma := values[f.Sigma]
		if sigma == nil {
			return nil, fmt.Errorf("sigma: no column %q", f.Sigma)
		}
		for i, v := range f.Data[f.Sigma] {
			if !(v > 0) {
				return nil, fmt.Errorf("%s[%d] is %g: want errors above 0", f.Sigma, i, float64(v))
			}
		}
		r = ad.Div(r, sigma)
	}
	p, err := optim.FromGraph(r, params)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		p.Start = append(p.Start, f.Start[name])
	}
	return p, f.bound(p, names)
}

// ties reads the expressions of tied parameters in terms of the others.
func (f *problemFile) ties(p *optim.Problem) (map[string]*ad.Node, error) {
	out := map[string]*ad.Node{}
	for name, text := range f.Tied {
		e, err := formula.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("tied %s: %w", name, err)
		}
		values := map[string]*ad.Node{}
		for _, other := range p.Names {
			values[other] = ad.Input(other)
		}
		if out[name], err = e.Node(values); err != nil {
			return nil, fmt.Errorf("tied %s: %w", name, err)
		}
	}
	return out, nil
}

// columns makes the data constants; all must have one length.
func (f *problemFile) columns() (map[string]*ad.Node, int, error) {
	values, n := map[string]*ad.Node{}, -1
	for name, col := range f.Data {
		data := make([]float64, len(col))
		for i, v := range col {
			data[i] = float64(v)
			if math.IsNaN(data[i]) || math.IsInf(data[i], 0) {
				return nil, 0, fmt.Errorf("%s[%d] is %g: leave the point out", name, i, data[i])
			}
		}
		if n >= 0 && len(col) != n {
			return nil, 0, fmt.Errorf("column %s has %d values, others %d", name, len(col), n)
		}
		n = len(col)
		values[name] = ad.Const(data)
	}
	if n < 1 {
		return nil, 0, fmt.Errorf("data has no columns with values")
	}
	return values, n, nil
}

func (f *problemFile) bound(p *optim.Problem, names []string) error {
	if len(f.Bounds) == 0 {
		return nil
	}
	p.Lower, p.Upper = slices.Repeat([]float64{math.Inf(-1)}, len(names)), slices.Repeat([]float64{math.Inf(1)}, len(names))
	for name, b := range f.Bounds {
		i := slices.Index(names, name)
		if i < 0 || len(b) != 2 {
			return fmt.Errorf("bounds of %s: want [lower, upper] of a parameter of start", name)
		}
		if b[0] != nil {
			p.Lower[i] = float64(*b[0])
		}
		if b[1] != nil {
			p.Upper[i] = float64(*b[1])
		}
	}
	return nil
}

// natural orders b2 before b10.
func natural(a, b string) bool {
	if len(a) != len(b) && strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789") {
		return len(a) < len(b)
	}
	return a < b
}

// nlsqDoc is the JSON document of fit nlsq.
type nlsqDoc struct {
	Engine   string            `json:"engine"`
	X        map[string]number `json:"x"`
	SD       map[string]number `json:"sd"`
	Names    []string          `json:"names"`
	Cov      [][]number        `json:"cov"`
	Cost     number            `json:"cost"`
	Reduced  number            `json:"chi2_reduced"`
	Status   string            `json:"status"`
	Message  string            `json:"message"`
	NFev     int               `json:"nfev"`
	NJev     int               `json:"njev"`
	Rank     int               `json:"rank"`
	Active   map[string]int    `json:"active"`
	Warnings []string          `json:"warnings"`
}

func nlsqDocument(r *optim.Result) nlsqDoc {
	d := nlsqDoc{Engine: "nlsq", X: named(r.Names, r.X), SD: named(r.Names, r.SD()), Names: r.Names, Cost: number(r.Cost), Reduced: number(r.ReducedChiSquared()),
		Status: r.Status.String(), Message: r.Status.Message(), NFev: r.NFev, NJev: r.NJev, Rank: r.Rank, Active: map[string]int{}, Warnings: append([]string{}, r.Warnings...)}
	n := len(r.Names)
	for i, name := range r.Names {
		d.Active[name] = r.Active[i]
		d.Cov = append(d.Cov, numbers(r.Cov[i*n:(i+1)*n]))
	}
	return d
}
