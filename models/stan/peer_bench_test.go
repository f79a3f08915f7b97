// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/models/stan"
	"github.com/euryale-dev/euryale/tensor"
)

// BenchmarkPeerPosteriorDB times gradients of the posteriors of posteriordb beside stanli, in turn, and prints a table: unconstrained
// parameters, microseconds a gradient of ours and of the peer, how many times faster ours is, seconds from the source to the first gradient
// of both, and the largest difference of the gradients, relative to the largest component. It needs a C compiler and
//
//	EURYALE_POSTERIORDB  a copy of posteriordb (scripts/posteriordb.sh)
//	EURYALE_STANLI       libstanli.so of the Python package stanli
//	EURYALE_POSTERIOR    optional: patterns of names, as in "radon_mn* garch-*"
func BenchmarkPeerPosteriorDB(b *testing.B) {
	dir, lib := os.Getenv("EURYALE_POSTERIORDB"), os.Getenv("EURYALE_STANLI")
	if dir == "" || lib == "" {
		b.Skip("EURYALE_POSTERIORDB names no copy of posteriordb, or EURYALE_STANLI no library of stanli")
	}
	loop := filepath.Join(b.TempDir(), "stanli")
	if out, err := exec.Command("cc", "-O2", "-o", loop, filepath.Join("..", "..", "scripts", "peers", "stanli.c"), "-ldl").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	dir = filepath.Join(dir, "posterior_database")
	var files []string
	for _, pattern := range strings.Fields(cmp.Or(os.Getenv("EURYALE_POSTERIOR"), "*")) {
		found, _ := filepath.Glob(filepath.Join(dir, "posteriors", pattern+".json"))
		files = append(files, found...)
	}
	var ratios, compiled []float64
	peer.Machine()
	fmt.Println("| posterior | parameters | ours, us | stanli, us | times as fast | to the first gradient, s: ours | stanli | relative difference |\n|---|---|---|---|---|---|---|---|")
	for _, f := range files {
		r, err := raceOf(b, dir, f, loop, lib)
		if err != nil {
			fmt.Printf("| %s | %v |\n", r.name, strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		fmt.Printf("| %s | %d | %.4g | %.4g | %.2f | %.3f | %.3f | %.1g |\n", r.name, r.dim, r.ours, r.theirs, r.theirs/r.ours, r.first, r.theirFirst, r.differs)
		ratios, compiled = append(ratios, r.theirs/r.ours), append(compiled, r.first)
	}
	if len(ratios) == 0 {
		return
	}
	slices.Sort(ratios)
	count := func(list []float64, ok func(x float64) bool) (n int) {
		for _, x := range list {
			if ok(x) {
				n++
			}
		}
		return n
	}
	fmt.Printf("# %d posteriors: ours is %.2f times as fast at the median, at least as fast on %d, and slower than 0.8 on %d; %d have their first gradient within 0.2 s\n", len(ratios), ratios[len(ratios)/2],
		count(ratios, func(x float64) bool { return x >= 1 }), count(ratios, func(x float64) bool { return x < 0.8 }), count(compiled, func(x float64) bool { return x < 0.2 }))
}

// race is a posterior's times: of gradients in microseconds, from the source to the first gradient in seconds.
type race struct {
	name              string
	dim               int
	ours, theirs      float64
	first, theirFirst float64
	differs           float64
}

func raceOf(b *testing.B, dir, file, loop, lib string) (r race, err error) {
	r.name = strings.TrimSuffix(filepath.Base(file), ".json")
	var about struct {
		Model string `json:"model_name"`
		Data  string `json:"data_name"`
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		return r, err
	}
	program := filepath.Join(dir, "models", "stan", about.Model+".stan")
	data := filepath.Join(b.TempDir(), "data.json")
	if text, err = unzip(filepath.Join(dir, "data", "data", about.Data+".json.zip")); err == nil {
		err = os.WriteFile(data, text, 0o600)
	}
	if err != nil {
		return r, err
	}
	post, err := r.compile(program, data)
	if err != nil {
		return r, err
	}
	cmd := exec.Command(loop, lib, program, data)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	defer cmd.Wait()
	defer in.Close()
	answers := bufio.NewReader(out)
	dim := 0
	if _, err := fmt.Fscan(answers, &dim, &r.theirFirst); err != nil || dim != r.dim {
		return r, fmt.Errorf("stanli has %d parameters, and ours has %d: %v", dim, r.dim, err)
	}
	points, err := r.points(post, in, answers)
	if err != nil {
		return r, err
	}
	return r, r.time(post, points, in, answers)
}

// compile makes our posterior and the first gradient.
func (r *race) compile(program, data string) (*stan.Posterior, error) {
	source, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(data)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	prog, err := stan.Parse(program, string(source), stan.Settings{})
	if err != nil {
		return nil, err
	}
	d, err := stan.ReadData(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	post, err := prog.Compile(d, stan.CompileSettings{})
	if err != nil {
		return nil, err
	}
	r.dim = post.Dim()
	_, err = post.LogProbGrad(make([]float64, r.dim), make([]float64, r.dim))
	r.first = time.Since(start).Seconds()
	return post, err
}

// points finds points at which both are finite, passes them to the peer, and compares the gradients.
func (r *race) points(post *stan.Posterior, in io.Writer, answers io.Reader) ([][]float64, error) {
	random := tensor.NewStream(1, 0, 0)
	g := make([]float64, r.dim)
	var points [][]float64
	for try := 0; try < 200 && len(points) < 6; try++ {
		q := make([]float64, r.dim)
		for i := range q {
			q[i] = 0.5 * random.Normal() / (1 + float64(try/20))
		}
		if lp, err := post.LogProbGrad(q, g); err == nil && !math.IsInf(lp, 0) {
			points = append(points, q)
		}
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("no point of 200 has a finite log density")
	}
	w := bufio.NewWriter(in)
	fmt.Fprintf(w, "p %d\n", len(points))
	for _, q := range points {
		for _, x := range q {
			fmt.Fprintf(w, "%.17g ", x)
		}
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		return nil, err
	}
	for _, q := range points {
		if _, err := post.LogProbGrad(q, g); err != nil {
			return nil, err
		}
		var theirs string
		if _, err := fmt.Fscan(answers, &theirs); err != nil {
			return nil, err
		}
		largest, differs := 0.0, 0.0
		for _, x := range g {
			var want float64
			fmt.Fscan(answers, &want)
			largest, differs = max(largest, math.Abs(want)), max(differs, math.Abs(x-want))
		}
		r.differs = max(r.differs, differs/largest)
	}
	return points, nil
}

// time lets both run in turn for a hundredth of a second, and takes the fastest of each, which other work on the machine did not interrupt.
func (r *race) time(post *stan.Posterior, points [][]float64, in io.Writer, answers io.Reader) error {
	r.ours, r.theirs = math.Inf(1), math.Inf(1)
	g := make([]float64, r.dim)
	for range 20 {
		start, n := time.Now(), 0
		for batch := 1; time.Since(start) < 10*time.Millisecond; batch *= 2 {
			for range batch {
				post.LogProbGrad(points[n%len(points)], g)
				n++
			}
		}
		r.ours = min(r.ours, time.Since(start).Seconds()*1e6/float64(n))
		fmt.Fprintln(in, "t 0.01")
		var seconds float64
		if _, err := fmt.Fscan(answers, &seconds); err != nil {
			return err
		}
		r.theirs = min(r.theirs, seconds*1e6)
	}
	return nil
}
