// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// mine makes a normal distribution with a part that is changed.
func mine(change func(d *dist.Dist)) func(p ...any) dist.Dist {
	return func(p ...any) dist.Dist {
		normal := dist.Normal(p[0], 1)
		d := dist.Dist{Name: "mine", Params: dist.Nodes(p...), LogProbOf: func(x *ad.Node) *ad.Node { return normal.LogProb(x) }}
		change(&d)
		return d
	}
}

// half is a transform whose Constrain returns a wrong y, or else a wrong log Jacobian.
func half(wrong int) dist.Transform {
	return dist.Transform{Name: "half", Free: func(n int) int { return n },
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			if wrong == 0 {
				return ad.Slice(x, 0, 0, 1), ad.Scalar(0)
			}
			return ad.Scale(0.5, x), ad.Scale(0, x)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) { return y, nil },
	}
}

// inverse gives a distribution of positive numbers a transform with a wrong Inverse.
func inverse(x []float64, err error) func(d *dist.Dist) {
	return func(d *dist.Dist) {
		d.Support, d.TransformOf = dist.Positive, func() dist.Transform {
			tr := dist.SoftplusTransform()
			tr.Name, tr.Inverse = "mine", func([]float64, ...float64) ([]float64, error) { return x, err }
			return tr
		}
	}
}

// A transform reports a Free below 0, and an Inverse of the wrong length.
func TestTransformRefuses(t *testing.T) {
	tr := half(1)
	tr.Event, tr.Free = 1, func(n int) int { return n - 3 }
	if _, err := tr.FreeShape(4, 2); err == nil || !strings.Contains(err.Error(), `Free of the transform "half" returned -1 for a value of 2 elements`) {
		t.Error(err)
	}
	if _, err := tr.Unconstrain([]float64{1, 2, 3, 4}, []int{4}, 0); err == nil || !strings.Contains(err.Error(), `Inverse of the transform "half" returned 4 numbers for 4 elements: want 1`) {
		t.Error(err)
	}
}

// Definitions that are not whole, or whose name is taken, are refused where they are made.
func TestRegisterRefuses(t *testing.T) {
	whole := dist.Family{Name: "mine", Params: []string{"mu"}, Want: []dist.Support{dist.Real}, Make: func(p ...any) dist.Dist { return dist.Normal(p[0], 1) }, At: [][]float64{{0}}}
	for want, change := range map[string]func(f *dist.Family){
		`"mine" is incomplete: set Make`:                    func(f *dist.Family) { f.Make = nil },
		"set Make, At with":                                 func(f *dist.Family) { f.Make, f.At = nil, nil },
		`"My_Normal" cannot have this name: use lower case`: func(f *dist.Family) { f.Name = "My_Normal" },
		`"a b" cannot have`:                                 func(f *dist.Family) { f.Name = "a b" },
		`"1a" cannot have`:                                  func(f *dist.Family) { f.Name = "1a" },
		`"λ" cannot have`:                                   func(f *dist.Family) { f.Name = "λ" },
		"its Make panics at the parameters [0]: runtime error: index out of range": func(f *dist.Family) { f.Make = func(p ...any) dist.Dist { return dist.Normal(p[0], p[1]) } },
		"At has [0 1]: want 1 number,":                                             func(f *dist.Family) { f.At = [][]float64{{0, 1}} },
		"At has mu = NaN: want a finite number":                                    func(f *dist.Family) { f.At = [][]float64{{math.NaN()}} },
		"At has mu = -1: want a finite number above 0":                             func(f *dist.Family) { f.Want, f.At = []dist.Support{dist.Positive}, [][]float64{{-1}} },
		"without LogProbOf at the parameters [0]": func(f *dist.Family) {
			f.Make = func(p ...any) dist.Dist { return dist.Dist{Name: "mine", Params: dist.Nodes(p...)} }
		},
		"LogProbOf of mine returned the shape [] for values of shape [2]: want the shape [2], one log density for each value": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) {
				d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.Neg(ad.Sum(ad.Square(ad.Sub(x, d.Params[0])))) }
			})
		},
		"its LogProbOf panics at the parameters [0]": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.LogProbOf = func(x *ad.Node) *ad.Node { return d.Params[3] } })
		},
		"with Event 1, but Value is []: set Value to the shape of one value, with 1 axes": func(f *dist.Family) { f.Make = mine(func(d *dist.Dist) { d.Event = 1 }) },
		"its RandOf drew NaN at the parameters [0]": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.RandOf = func(dist.Source, []float64) float64 { return math.NaN() } })
		},
		"its RandOf drew -1 at the parameters [0]: want a finite number above 0, as Support and Discrete say": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) {
				d.Support, d.RandOf = dist.Positive, func(dist.Source, []float64) float64 { return -1 }
			})
		},
		"its RandOf panics at the parameters [0]": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.RandOf = func(_ dist.Source, p []float64) float64 { return p[1] } })
		},
		`Constrain of the transform "half" returned a log Jacobian of the shape [2]: want a scalar, so add its elements with Sum`: func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.TransformOf = func() dist.Transform { return half(1) } })
		},
		`Constrain of the transform "half" returned y of the shape [1] for x of the shape [2]: want 2 elements`: func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.TransformOf = func() dist.Transform { return half(0) } })
		},
		"its TransformOf panics at the parameters [0]: tr": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.TransformOf = func() dist.Transform { panic("tr") } })
		},
		"its Rule panics at the parameters [0]": func(f *dist.Family) { f.Rule = func(p []float64) string { return f.Params[int(p[5])] } },
		"At has the parameters [0]: want mu > 1, as Rule says": func(f *dist.Family) {
			f.Rule = func(p []float64) string { return map[bool]string{true: "mu > 1"}[p[0] <= 1] }
		},
		`the transform "identity" maps -1.3 to -1.3: want a finite number above 0, as Support says`: func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.Support, d.TransformOf = dist.Positive, dist.IdentityTransform })
		},
		`Constrain of the transform "affine" returned the log Jacobian 0.693147 at -1.3, but differences of y give 1.38629: return the logarithm of |dy/dx|`: func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) {
				d.TransformOf = func() dist.Transform {
					tr := dist.AffineTransform(0, 4)
					constrain := tr.Constrain
					tr.Constrain = func(x *ad.Node) (y, logJ *ad.Node) { y, logJ = constrain(x); return y, ad.Scale(0.5, logJ) }
					return tr
				}
			})
		},
		`Inverse of the transform "mine" at 0.241008`:   func(f *dist.Family) { f.Make = mine(inverse(nil, errors.New("not written"))) },
		`Inverse of the transform "mine" maps 0.241008`: func(f *dist.Family) { f.Make = mine(inverse([]float64{7}, nil)) },
		"its CDFOf returned 3 at ": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.CDFOf = func(float64, []float64) float64 { return 3 } })
		},
		"its CDFOf decreases from ": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) {
				d.RandOf = func(src dist.Source, p []float64) float64 { return p[0] + src.Normal() }
				d.CDFOf = func(x float64, p []float64) float64 { return dist.Normal(0, 1).CDF(p[0]-x, []float64{0, 1}) }
			})
		},
		"its CDFOf panics at the parameters [0]": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) { d.CDFOf = func(x float64, p []float64) float64 { return p[3] } })
		},
		"its LogCDFOf returned ": func(f *dist.Family) {
			f.Make = mine(func(d *dist.Dist) {
				d.CDFOf = func(x float64, p []float64) float64 { return dist.Normal(0, 1).CDF(x-p[0], []float64{0, 1}) }
				d.LogCDFOf = func(x *ad.Node) *ad.Node { return ad.LogPhi(ad.Sub(d.Params[0], x)) }
			})
		},
		`Make returned a distribution without Name: set it to "mine"`:                    func(f *dist.Family) { f.Make = mine(func(d *dist.Dist) { d.Name = "" }) },
		`Make returned a distribution with the Name "other": set it to "mine", the name`: func(f *dist.Family) { f.Make = mine(func(d *dist.Dist) { d.Name = "other" }) },
		`"normal" already`:   func(f *dist.Family) { f.Name = "normal" },
		`"invgamma" already`: func(f *dist.Family) { f.Name = "invgamma" },
		"Want for each":      func(f *dist.Family) { f.Want = nil },
		`"" is incomplete`:   func(f *dist.Family) { f.Name = "" },
	} {
		f := whole
		change(&f)
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("want %q: %s", want, r)
				}
			}()
			dist.Register(f)
		}()
	}
}

// Errors name the package once, and the file of the caller.
func TestErrorsNameThePackageOnce(t *testing.T) {
	sum := mine(func(d *dist.Dist) { d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.Sum(x) } })(0.0)
	for _, err := range []error{
		sum.LogProb(ad.Const([]float64{1, 2})).Err(),
		dist.VonMises(1, 1).LogCDF(ad.Scalar(1)).Err(),
		dist.Mixture([]float64{0.1, 0.9}, dist.Normal(1, -1), dist.Normal(0, 1)).Err(),
		dist.MixtureSameFamily([]float64{0.1, 0.9}, dist.Normal([]float64{1, 2}, -1)).Err(),
	} {
		if err == nil || strings.Count(err.Error(), "dist: ") != 1 || strings.Contains(err.Error(), "autodiff") {
			t.Error(err)
		} else if before, _, _ := strings.Cut(err.Error(), "dist: "); before != "" && !strings.HasPrefix(before, "register_test.go:") {
			t.Errorf("%v is not located at the caller", err)
		}
	}
}

// An Inverse that fails says at which number, not at which place alone.
func TestInverseNamesTheValue(t *testing.T) {
	tr := half(0)
	tr.Inverse = func([]float64, ...float64) ([]float64, error) { return nil, errors.New("not written") }
	if _, err := tr.Unconstrain([]float64{0.25}, nil, 0); err == nil || err.Error() != `Inverse of the transform "half" at 0.25: not written` {
		t.Error(err)
	}
	if _, err := dist.LowerTransform(0).Unconstrain([]float64{1, -3}, []int{2}, 0, []float64{0}); err == nil || !strings.Contains(err.Error(), `Inverse of the transform "lower" at element 1, which is -3: -3 is outside`) {
		t.Error(err)
	}
}
