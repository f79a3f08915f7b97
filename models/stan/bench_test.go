// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// BenchmarkPosteriorDB times gradients of a posterior of posteriordb: EURYALE_POSTERIOR names its model, a colon and its data.
func BenchmarkPosteriorDB(b *testing.B) {
	dir, which := os.Getenv("EURYALE_POSTERIORDB"), os.Getenv("EURYALE_POSTERIOR")
	if dir == "" || which == "" {
		b.Skip("EURYALE_POSTERIORDB names no copy of posteriordb, or EURYALE_POSTERIOR no model and data")
	}
	model, data, _ := strings.Cut(which, ":")
	dir = filepath.Join(dir, "posterior_database")
	source, err := os.ReadFile(filepath.Join(dir, "models", "stan", model+".stan"))
	if err != nil {
		b.Fatal(err)
	}
	prog, err := stan.Parse(model, string(source), stan.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	d, err := stan.ReadData(bytes.NewReader(unzipped(b, filepath.Join(dir, "data", "data", data+".json.zip"))))
	if err != nil {
		b.Fatal(err)
	}
	post, err := prog.Compile(d, stan.CompileSettings{})
	if err != nil {
		b.Fatal(err)
	}
	q, g := make([]float64, post.Dim()), make([]float64, post.Dim())
	for i := range q {
		q[i] = 0.1 * float64(i%7)
	}
	for b.Loop() {
		if _, err := post.LogProbGrad(q, g); err != nil {
			b.Fatal(err)
		}
	}
}
