// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// chainCase is one case of chain.json.
type chainCase struct {
	Mock, Interpolator string
	NPoly              int
	RBF                bool
	Rotation           json.RawMessage
	Floor              float64   `json:"espec_systematic"`
	ContinuumOnly      bool      `json:"continuum_only"`
	Params             []float64 // vel, vsini, teff, logg, feh, alpha; without vsini if Rotation is null
	ChiSq              *float64
	Ref                float64   `json:"chisq_ref"`
	RefArray           []float64 `json:"chisq_array_ref"`
	Array              []float64 `json:"chisq_array"`
	Grad               []float64
	Hess               [][]float64
	Coeffs             [][]float64
	scan               int // number of velocities if they alone have an axis
}

func chainCases(t testing.TB) []chainCase {
	var f struct{ Cases []chainCase }
	golden.JSON(t, &f, "spectra", "chain/chain.json")
	return f.Cases
}

// library builds the templates of one arm of the test library as graphs of u = (teff, logg, feh, alpha).
type library struct {
	lam      []float64
	template func(u *ad.Node, at []float64) *ad.Node
	outside  func(u *ad.Node) *ad.Node
}

// standardised returns log10 teff and the others, minus mean over spread.
func mapped(u *ad.Node) *ad.Node {
	return ad.Concat(-1, ad.Log10(ad.Slice(u, -1, 0, 1)), ad.Slice(u, -1, 1, 4))
}

func gridLibrary(t testing.TB, arm string) library {
	lam, _ := npy(t, "library/lam_"+arm+".npy")
	rows, shape := npy(t, "library/interpdat_"+arm+".npy")
	ids, lengths := npy(t, "library/idgrid.npy")
	var axes [][]float64
	golden.JSON(t, &axes, "spectra", "library/uvecs.json")
	n := shape[1]
	return library{lam: lam, template: func(u *ad.Node, at []float64) *ad.Node {
		x := mapped(u)
		var cell [4]int
		var weight [4]*ad.Node
		for a, axis := range axes {
			v := at[a]
			if a == 0 {
				v = math.Log10(v)
			}
			for cell[a] < len(axis)-2 && v >= axis[cell[a]+1] {
				cell[a]++
			}
			lo, hi := axis[cell[a]], axis[cell[a]+1]
			weight[a] = ad.Scale(1/(hi-lo), ad.Shift(ad.Slice(x, -1, a, a+1), -lo))
		}
		var sum *ad.Node
		for corner := range 16 {
			w, id := ad.Scalar(1), 0
			for a := range axes {
				up := corner >> a & 1
				id = id*lengths[a] + cell[a] + up
				if up == 1 {
					w = ad.Mul(w, weight[a])
				} else {
					w = ad.Mul(w, ad.Sub(ad.Scalar(1), weight[a]))
				}
			}
			row := int(ids[id])
			if row < 0 {
				t.Fatalf("a corner of the cell of %v is missing", at)
			}
			part := ad.Mul(w, ad.Const(rows[row*n:(row+1)*n]))
			if sum == nil {
				sum = part
			} else {
				sum = ad.Add(sum, part)
			}
		}
		return sum
	}}
}

func netLibrary(t testing.TB, arm string) library {
	lam, _ := npy(t, "library/lam_"+arm+".npy")
	weights, _ := npy(t, "nn/weights_"+arm+".npy")
	var nets map[string]struct {
		Mean, Std []float64
		Keys      []struct {
			Name  string
			Shape []int
		} `json:"-"`
		RawKeys [][]json.RawMessage `json:"state_keys"`
		HullA   [][]float64         `json:"hull_teff_logg"`
		HullB   [][]float64         `json:"hull_feh_alpha"`
	}
	golden.JSON(t, &nets, "spectra", "nn/nn.json")
	net := nets[arm]
	scaled := func(u *ad.Node) *ad.Node {
		return ad.Div(ad.Sub(mapped(u), ad.Const(net.Mean)), ad.Const(net.Std))
	}
	return library{lam: lam, template: func(u *ad.Node, _ []float64) *ad.Node {
		x, at := scaled(u), 0
		for i := 0; i < len(net.RawKeys); i += 2 {
			var shape []int
			if err := json.Unmarshal(net.RawKeys[i][1], &shape); err != nil {
				t.Fatal(err)
			}
			size := shape[0] * shape[1]
			w, b := ad.Const(weights[at:at+size], shape...), ad.Const(weights[at+size:at+size+shape[0]])
			at += size + shape[0]
			x = ad.Add(ad.MatMul(x, ad.T(w)), b)
			if i < len(net.RawKeys)-2 {
				x = ad.Mul(x, ad.Sigmoid(x))
			}
		}
		return x
	}, outside: func(u *ad.Node) *ad.Node {
		x := scaled(u)
		far := ad.Scalar(0)
		for h, hull := range [][][]float64{net.HullA, net.HullB} {
			for _, f := range hull {
				d := ad.Shift(ad.Add(ad.Scale(f[0], ad.Index(x, -1, 2*h)), ad.Scale(f[1], ad.Index(x, -1, 2*h+1))), f[2])
				far = ad.Maximum(far, d)
			}
		}
		return ad.Square(far)
	}}
}

// chain is the graph of a case for b stars; b = 0 has no axis of stars.
type chain struct {
	vel, vsini, u *ad.Node
	like          *spectra.Likelihood
	only          []spectra.Spectrum
}

func buildChain(t testing.TB, c chainCase, b int, edit func(*spectra.ArmSettings)) chain {
	var lead []int
	if b > 0 {
		lead = []int{b}
	}
	g := chain{vel: ad.Input("vel", lead...), u: ad.Input("u", append(lead, 4)...)}
	if c.scan > 0 {
		g.vel = ad.Input("vel", c.scan)
	}
	kind := spectra.Rotation{Compat: true}
	if c.Rotation == nil {
		g.vsini = ad.Input("vsini", lead...)
	} else {
		kind.None = true
	}
	var exposures []spectra.Exposure
	if c.ContinuumOnly {
		c.RBF = true
	}
	arms, models := map[string]*spectra.Arm{}, map[string]*ad.Node{}
	for _, file := range templates.MockSpectra(t, c.Mock) {
		name := file.Arm
		var lib library
		if c.Interpolator == "nn" {
			lib = netLibrary(t, name)
		} else {
			lib = gridLibrary(t, name)
		}
		data, shape := npy(t, file.File)
		n := shape[1]
		if arms[name] == nil {
			s := spectra.ArmSettings{Name: name, Template: lib.lam, Observed: data[:n], Continuum: c.NPoly, Chebyshev: !c.RBF, Rotation: kind}
			if file.Resolution != "" {
				band, shape := npy(t, file.Resolution)
				r, err := spectra.NewResolution(shape[0]/2, n, band)
				if err != nil {
					t.Fatal(err)
				}
				s.Resolution = r
			}
			if edit != nil {
				edit(&s)
			}
			arm, err := spectra.NewArm(s)
			if err != nil {
				t.Fatal(err)
			}
			arms[name] = arm
			if !c.ContinuumOnly {
				models[name] = lib.template(g.u, c.Params[len(c.Params)-4:])
			}
		}
		good := make([]float64, n)
		for i, bad := range data[3*n:] {
			if bad == 0 {
				good[i] = 1
			}
		}
		e := spectra.Exposure{Arm: arms[name], Template: models[name], Flux: ad.Const(data[n : 2*n]), Err: ad.Const(data[2*n : 3*n]), Good: ad.Const(good)}
		if c.Floor > 0 {
			e.Floor = ad.Scalar(c.Floor)
		}
		if lib.outside != nil {
			e.Outside = lib.outside(g.u)
		}
		exposures = append(exposures, e)
	}
	if c.ContinuumOnly {
		g.only = spectra.ContinuumOnly(exposures...)
	} else {
		g.like = spectra.NewLikelihood(g.vel, g.vsini, exposures...)
	}
	return g
}

// params lists the parameters of the graph.
func (g chain) params() []*ad.Node {
	if g.vsini == nil {
		return []*ad.Node{g.vel, g.u}
	}
	return []*ad.Node{g.vel, g.vsini, g.u}
}

// at sets parameters of all stars.
func (g chain) set(t testing.TB, s *ad.State, params []float64) {
	t.Helper()
	inputs := [][]float64{params[:1], params[1:2], params[2:]}
	if g.vsini == nil {
		inputs = [][]float64{params[:1], params[1:]}
	}
	for i, v := range inputs {
		if err := s.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
}

// everyHessian asks for the Hessian of all cases, of which the quick tests take every third.
var everyHessian = false

func TestChainGolden(t *testing.T) {
	for i, c := range chainCases(t) {
		if i%3 != 0 && !everyHessian {
			c.Hess = nil
		}
		t.Run(fmt.Sprintf("%d_%s_%s_%d", i, c.Mock, c.Interpolator, c.NPoly), func(t *testing.T) {
			g := buildChain(t, c, 0, nil)
			if c.ContinuumOnly {
				for k, s := range g.only {
					near(t, "continuum only", eval(t, s.TrueChiSquare)[0], c.Array[k:k+1], 1e-9)
				}
				return
			}
			params := g.params()
			outs := append([]*ad.Node{g.like.ChiSquare}, ad.Grad(g.like.ChiSquare, params...)...)
			for _, s := range g.like.Spectra {
				outs = append(outs, s.TrueChiSquare, s.Coefficients)
			}
			if c.Hess != nil {
				outs = append(outs, spectra.Hessian(g.like.ChiSquare, params...))
			}
			p, err := ad.Compile(outs, ad.Settings{Inputs: params})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			g.set(t, s, c.Params)
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			if c.ChiSq == nil {
				near(t, "chi-square", s.Output(0), []float64{c.Ref}, 1e-9)
			} else {
				near(t, "chi-square", s.Output(0), []float64{*c.ChiSq}, 1e-9)
			}
			var grad []float64
			for k := range params {
				grad = append(grad, s.Output(1+k)...)
			}
			if c.Grad != nil {
				near(t, "gradient", grad, c.Grad, 1e-7)
			}
			refTol := 1e-9
			if c.Interpolator == "nn" {
				refTol = 1e-5 // the reference's network is float32
			}
			for k := range g.like.Spectra {
				at := 1 + len(params) + 2*k
				if c.RefArray != nil {
					near(t, "true chi-square", s.Output(at), c.RefArray[k:k+1], refTol)
				}
				if c.Coeffs != nil {
					near(t, "coefficients", s.Output(at+1), c.Coeffs[k], max(refTol, 1e-8))
				}
			}
			if c.Hess != nil {
				var want []float64
				for _, r := range c.Hess {
					want = append(want, r...)
				}
				near(t, "Hessian", s.Output(p.Outputs()-1), want, 1e-6)
			}
		})
	}
}
