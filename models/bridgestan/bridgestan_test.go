// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package bridgestan_test

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/models/bridgestan"
)

// normal is a library with the interface, for x[1], x[2] ~ normal(the number of bytes of the data, 1), with one quantity of random numbers.
const normal = `
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
typedef struct { double mean; } model;
void *bs_model_construct(const char *data, unsigned seed, char **err) {
  if (data[0] != '{') { *err = strdup("no JSON\n"); return 0; }
  model *m = malloc(sizeof *m); m->mean = strlen(data); return m;
}
void bs_model_destruct(void *m) { free(m); }
void bs_free_error_msg(char *m) { free(m); }
int bs_param_unc_num(void *m) { return 2; }
int bs_param_num(void *m, bool tp, bool gq) { return 2 + gq; }
const char *bs_param_names(void *m, bool tp, bool gq) { return gq ? "x.1,x.2,z" : "x.1,x.2"; }
int bs_log_density_gradient(model *m, bool propto, bool jacobian, const double *u, double *lp, double *g, char **err) {
  *lp = 0;
  for (int i = 0; i < 2; i++) {
    if (u[i] > m->mean + 100) { *err = strdup("too far"); return -1; }
    *lp -= (u[i] - m->mean) * (u[i] - m->mean) / 2; g[i] = (m->mean - u[i]) * SLOPE;
  }
  return 0;
}
void *bs_rng_construct(unsigned seed, char **err) { unsigned *r = malloc(sizeof *r); *r = seed; return r; }
void bs_rng_destruct(void *r) { free(r); }
int bs_param_constrain(model *m, bool tp, bool gq, const double *u, double *x, unsigned *rng, char **err) {
  x[0] = u[0]; x[1] = u[1]; x[2] = *rng / 4294967296.0; return 0;
}
`

// compiled makes the library with a C compiler, or skips the test.
func compiled(t *testing.T, source string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("lacks a C compiler, named cc, which makes the library that is opened")
	}
	dir := t.TempDir()
	c, so := filepath.Join(dir, "m.c"), filepath.Join(dir, "m.so")
	if err := os.WriteFile(c, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, append([]string{"-shared", "-fPIC", "-o", so, c}, flags...)...).CombinedOutput(); err != nil {
		t.Skipf("the C compiler makes no shared library: %v: %s", err, out)
	}
	return so
}

func open(t *testing.T, so, data string) (*bridgestan.Model, error) {
	m, err := bridgestan.Open(so, []byte(data), bridgestan.Settings{Seed: 1})
	if err != nil && strings.Contains(err.Error(), "built without") {
		t.Skip(err)
	}
	return m, err
}

func TestSample(t *testing.T) {
	m, err := open(t, compiled(t, normal, "-DSLOPE=1"), `{"N": 8}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Names(); !slices.Equal(got, []string{"x[1]", "x[2]", "z"}) || !slices.Equal(m.ParameterNames(), got[:2]) {
		t.Errorf("the columns are %v", got)
	}
	fit, err := infer.Sample(context.Background(), m, infer.Settings{Seed: 1, Draws: 500, Warmup: 300})
	if err != nil {
		t.Fatal(err)
	}
	if mean := diag.Mean(slices.Concat(fit.Draws("x[2]")...)); math.Abs(mean-8) > 0.15 {
		t.Errorf("the mean is %g, want 8", mean)
	}
	if sd := diag.SD(slices.Concat(fit.Draws("z")...)); math.Abs(sd-0.289) > 0.03 {
		t.Errorf("random numbers have a standard deviation of %g, want that of a uniform distribution", sd)
	}
	if lp, err := m.LogProbGrad([]float64{1000, 0}, make([]float64, 2)); err == nil || !strings.Contains(err.Error(), "too far") || !math.IsInf(lp, -1) {
		t.Errorf("a rejected point: %g, %v", lp, err)
	}
}

func TestMistakes(t *testing.T) {
	if _, err := open(t, "/nowhere.so", "{}"); err == nil || !strings.Contains(err.Error(), "there is no file /nowhere.so") {
		t.Error(err)
	}
	if _, err := open(t, compiled(t, "int f(void) { return 1; }"), "{}"); err == nil || !strings.Contains(err.Error(), "has no function bs_model_construct") {
		t.Error(err)
	}
	if _, err := open(t, compiled(t, normal, "-DSLOPE=1"), "N <- 8"); err == nil || !strings.Contains(err.Error(), "no JSON") {
		t.Error(err)
	}
	if _, err := open(t, compiled(t, normal, "-DSLOPE=1.1"), "{}"); err == nil || !strings.Contains(err.Error(), "gradient") {
		t.Error(err)
	}
}
