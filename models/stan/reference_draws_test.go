// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/models/stan"
)

// referencePosterior is a posterior of posteriordb with reference draws.
type referencePosterior struct {
	name, program string // the file of the program
	data          []byte
	chains        []map[string][]float64
	// moments are the means of columns and of their squares, where the draws are not in the copy.
	moments map[string][2]float64
}

// referenceDraws is the number of reference draws of a posterior.
const referenceDraws = 10_000

// referenceFiles lists the files of reference draws in dir, by name, also those of which there are only means and mean squares.
func referenceFiles(dir string) (files []string) {
	draws := filepath.Join(dir, "reference_posteriors", "draws", "draws")
	files, _ = filepath.Glob(filepath.Join(draws, "*.json.zip"))
	means, _ := filepath.Glob(filepath.Join(dir, "reference_posteriors", "summary_statistics", "mean_value", "mean_value", "*.json"))
	for _, f := range means {
		files = append(files, filepath.Join(draws, filepath.Base(f)+".zip"))
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// readMoments reads means and mean squares.
func (r *referencePosterior) readMoments(dir string) error {
	r.moments = map[string][2]float64{}
	for k, kind := range []string{"mean_value", "mean_squared_value"} {
		b, err := os.ReadFile(filepath.Join(dir, "reference_posteriors", "summary_statistics", kind, kind, r.name+".json"))
		if err != nil {
			return err
		}
		var doc map[string]json.RawMessage
		var names []string
		var values []float64
		if err := errors.Join(json.Unmarshal(b, &doc), json.Unmarshal(doc["names"], &names), json.Unmarshal(doc[kind], &values)); err != nil || len(names) != len(values) {
			return fmt.Errorf("the reference has %d names and %d values: %w", len(names), len(values), err)
		}
		for i, name := range names {
			m := r.moments[name]
			m[k] = values[i]
			r.moments[name] = m
		}
	}
	return nil
}

// readReference reads a posterior of the database in dir, whose reference draws are in a file.
func readReference(dir, name, file string) (*referencePosterior, error) {
	var meta struct {
		Model string `json:"model_name"`
		Data  string `json:"data_name"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "posteriors", name+".json"))
	if err != nil {
		return nil, fmt.Errorf("the copy of posteriordb lacks the posterior: %w", err)
	}
	if err := json.Unmarshal(b, &meta); err != nil {
		return nil, err
	}
	r := &referencePosterior{name: name, program: filepath.Join(dir, "models", "stan", meta.Model+".stan")}
	if b, err = unzip(file); err != nil {
		if r.readMoments(dir) != nil {
			return nil, err
		}
	} else if err := json.Unmarshal(b, &r.chains); err != nil || len(r.chains) == 0 {
		return nil, fmt.Errorf("%s has %d chains: %w", file, len(r.chains), err)
	}
	r.data, err = unzip(filepath.Join(dir, "data", "data", meta.Data+".json.zip"))
	return r, err
}

func (r *referencePosterior) compile() (*stan.Posterior, error) {
	source, err := os.ReadFile(r.program)
	if err != nil {
		return nil, err
	}
	program, err := stan.Parse(r.program, string(source), stan.Settings{})
	if err != nil {
		return nil, err
	}
	data, err := stan.ReadData(bytes.NewReader(r.data))
	if err != nil {
		return nil, err
	}
	return program.Compile(data, stan.CompileSettings{Seed: 1})
}

// columns are the names of the columns with reference draws, sorted.
func (r *referencePosterior) columns() (names []string) {
	if r.moments != nil {
		return slices.Sorted(maps.Keys(r.moments))
	}
	for name := range r.chains[0] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// judged is what a comparison of draws with the reference found.
type judged struct {
	// ESS is the smallest effective sample size of the mean of a column.
	ESS      float64
	Worst    float64 // largest number of standard errors by which a mean or standard deviation differs
	Where    string
	RHat     float64
	Compared int
}

// heavyTail is the kurtosis of a column from which medians are compared: that of a normal distribution is 3.
const heavyTail = 50

// judge compares the columns that draws have, [chain][draw], with the reference.
func (r *referencePosterior) judge(draws func(name string) [][]float64) judged {
	j := judged{ESS: math.Inf(1)}
	for _, column := range r.columns() {
		x := draws(column)
		if x == nil {
			continue
		}
		var reference []float64
		var chain [][]float64
		for _, c := range r.chains {
			chain, reference = append(chain, c[column]), append(reference, c[column]...)
		}
		j.Compared++
		own := slices.Concat(x...)
		n, ns := diag.ESSMean(x), diag.ESSSD(x)
		j.ESS, j.RHat = min(j.ESS, diag.ESSBulk(x)), max(j.RHat, diag.RHat(x))
		m := float64(len(reference))
		sd, mean, wanted := diag.SD(own), 0.0, 0.0
		kurtosis := 0.0 // how uncertain standard deviations are
		if r.moments != nil {
			at := r.moments[column]
			m, mean, wanted, kurtosis = referenceDraws, at[0], math.Sqrt(at[1]-at[0]*at[0]), min(fourth(own), heavyTail)
		} else {
			mean, wanted, kurtosis = diag.Mean(reference), diag.SD(reference), fourth(reference)
		}
		zm := (diag.Mean(own) - mean) / math.Sqrt(sd*sd/n+wanted*wanted/m)
		zs := (sd - wanted) / (wanted * math.Sqrt((kurtosis-1)/4*(1/ns+1/m)))
		if kurtosis > heavyTail { // means of so heavy tails say nothing
			zm, zs = (diag.Quantile(own, 0.5)-diag.Quantile(reference, 0.5))/math.Hypot(diag.MCSEMedian(x), diag.MCSEMedian(chain)), 0
		}
		if z := max(math.Abs(zm), math.Abs(zs)); z > j.Worst || math.IsNaN(z) {
			j.Worst, j.Where = z, column
		}
	}
	return j
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
