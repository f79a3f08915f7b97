package optim_test

import (
	"context"
	"errors"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// A batch says whether its loss forgave outliers, and whether errors were scaled.
func TestBatchSaysWhatWasAsked(t *testing.T) {
	x := logspace(-2, 1, 20)
	for _, c := range []struct {
		s                optim.BatchSettings
		robust, relative bool
	}{
		{optim.BatchSettings{}, false, false},
		{optim.BatchSettings{Loss: optim.SoftL1}, true, false},
		{optim.BatchSettings{RelativeSigma: true}, false, true},
	} {
		r, err := decays(t, x).Fit(context.Background(), decayRows(x, 2, 0.01), c.s)
		if err != nil || r.Robust() != c.robust || r.Relative() != c.relative {
			t.Errorf("%+v: robust %t, relative %t, %v", c.s, r.Robust(), r.Relative(), err)
		}
	}
}

// An error of a product with the Jacobian ends the fit and is returned, also where some
// parameters are tied.
func TestErrorsOfProductsAreReturned(t *testing.T) {
	broken := errors.New("the detector is off")
	p := &optim.Problem{N: 2, M: 3, Names: []string{"a", "b"}, Start: []float64{1, 1},
		Residual: func(out, p []float64) error {
			out[0], out[1], out[2] = p[0]-2, p[1]-3, p[0]*p[1]-6
			return nil
		},
		JVP: func(out, p, v []float64) error {
			out[0], out[1], out[2] = v[0], v[1], p[1]*v[0]+p[0]*v[1]
			return nil
		},
		VJP: func(out, p, u []float64) error { return broken }}
	tied := map[string]*ad.Node{"b": ad.Scale(1.5, ad.Input("a"))}
	if _, err := optim.LeastSquares(context.Background(), p, optim.Settings{Tied: tied}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
