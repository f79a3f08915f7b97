// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package stan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/models/stan"
)

// patience is how long one posterior may be sampled; those that need longer are told.
const patience = 10 * time.Minute

// heavyTail is the kurtosis of a column from which medians are compared: that of a normal distribution is 3.
const heavyTail = 50

// TestSamplingOfPosteriorDB samples every posterior of posteriordb that has reference draws, at the defaults and in chosen coordinates, and compares
// means and standard deviations. One that is farther off than four standard errors must be said to be wrong by its diagnostics.
// EURYALE_POSTERIORS is a regular expression for the names of posteriors.
func TestSamplingOfPosteriorDB(t *testing.T) {
	dir := database(t)
	files, err := filepath.Glob(filepath.Join(dir, "reference_posteriors", "draws", "draws", "*.json.zip"))
	if err != nil || len(files) == 0 {
		t.Skip("the copy of posteriordb has no reference draws: scripts/posteriordb.sh fetches them")
	}
	only := regexp.MustCompile(os.Getenv("EURYALE_POSTERIORS"))
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json.zip")
		if only.MatchString(name) {
			t.Run(name, func(t *testing.T) { sampleReference(t, dir, name, f) })
		}
	}
}

func sampleReference(t *testing.T, dir, name, file string) {
	var meta struct {
		Model string `json:"model_name"`
		Data  string `json:"data_name"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "posteriors", name+".json"))
	if err != nil {
		t.Skipf("the copy of posteriordb lacks the posterior: %v", err)
	}
	if err := json.Unmarshal(b, &meta); err != nil {
		t.Fatal(err)
	}
	var chains []map[string][]float64
	if err := json.Unmarshal(unzipped(t, file), &chains); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(dir, "models", "stan", meta.Model+".stan"))
	if err != nil {
		t.Skipf("the copy of posteriordb lacks the program: %v", err)
	}
	program, err := stan.Parse(meta.Model+".stan", string(source), stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := stan.ReadData(bytes.NewReader(unzipped(t, filepath.Join(dir, "data", "data", meta.Data+".json.zip"))))
	if err != nil {
		t.Fatal(err)
	}
	post, err := program.Compile(data, stan.CompileSettings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for kind, coordinates := range map[string]infer.CoordinateKind{"declared": infer.DeclaredCoordinates, "chosen": infer.ChosenCoordinates} {
		t.Run(kind, func(t *testing.T) { compareReference(t, name+" "+kind, post, chains, coordinates) })
	}
}

func compareReference(t *testing.T, name string, post *stan.Posterior, chains []map[string][]float64, kind infer.CoordinateKind) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	start := time.Now()
	fit, err := infer.Sample(ctx, post, infer.Settings{Seed: 1, Parallel: runtime.GOMAXPROCS(0), Coordinates: kind})
	if ctx.Err() != nil {
		t.Skipf("not sampled within %v", patience)
	}
	if err != nil {
		t.Fatal(err)
	}
	worst, where, compared := 0.0, "", 0
	least := math.Inf(1)
	for column := range chains[0] {
		x := fit.Draws(column)
		if x == nil {
			continue
		}
		var reference []float64
		var chain [][]float64
		for _, c := range chains {
			chain, reference = append(chain, c[column]), append(reference, c[column]...)
		}
		compared++
		own := slices.Concat(x...)
		n, ns := diag.ESSMean(x), diag.ESSSD(x)
		least = min(least, diag.ESSBulk(x))
		m := float64(len(reference))
		sd, wanted := diag.SD(own), diag.SD(reference)
		kurtosis := fourth(reference) // how uncertain standard deviations are
		zm := (diag.Mean(own) - diag.Mean(reference)) / math.Sqrt(sd*sd/n+wanted*wanted/m)
		zs := (sd - wanted) / (wanted * math.Sqrt((kurtosis-1)/4*(1/ns+1/m)))
		if kurtosis > heavyTail { // means of so heavy tails say nothing
			zm, zs = (diag.Quantile(own, 0.5)-diag.Quantile(reference, 0.5))/math.Hypot(diag.MCSEMedian(x), diag.MCSEMedian(chain)), 0
		}
		if z := max(math.Abs(zm), math.Abs(zs)); z > worst {
			worst, where = z, column
		}
	}
	if compared == 0 {
		t.Fatalf("no column of the reference is among %v", fit.Names()[:min(5, len(fit.Names()))])
	}
	warm, kept := fit.Gradients()
	ok := fit.Diagnose().OK()
	t.Logf("%-60s %4d columns, worst z %5.2f (%s), least ESS %6.0f, %7d gradients (%.4f for each), %d divergences, %6.1f s, draws ok: %v, %v", name, compared, worst, where, least, warm+kept, least/float64(warm+kept), fit.Divergent(), time.Since(start).Seconds(), ok,
		fit.Coordinates())
	if worst > 4 && ok {
		t.Errorf("%s is %.1f standard errors off, and the diagnostics do not say so", where, worst)
	}
}

// fourth is the fourth standardised moment.
func fourth(x []float64) (k float64) {
	mean, sd := diag.Mean(x), diag.SD(x)
	for _, v := range x {
		d := (v - mean) / sd
		k += d * d * d * d / float64(len(x))
	}
	return k
}
