// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/peer"
)

const (
	// samplerPatience is the processor time that a posterior may take; longer runs count as 0 effective draws. Runs that wait for other programs end
	// after longestWait.
	samplerPatience, longestWait = 5 * time.Minute, time.Hour
	// rightZ and rightRHat are the largest departures with which a run counts.
	rightZ, rightRHat = 5, 1.05
)

// samplers are those that are compared: ours first.
var samplers = []string{"ours", "stanli", "nutpie", "nutpie-lowrank", "owalnuts", "blackjax"}

// samplerRow is what one run of a sampler on one posterior yields.
type samplerRow struct {
	judged
	Seconds   float64 // processor time without compiling
	Gradients int
	Fault     string `json:",omitempty"`
}

// perSecond and perGradient are effective draws; 0 of runs that are wrong or did not end.
func (r samplerRow) perSecond() float64 { return r.counts() / max(r.Seconds, 1e-9) }

func (r samplerRow) perGradient() float64 { return r.counts() / float64(max(r.Gradients, 1)) }

func (r samplerRow) counts() float64 {
	if r.Fault != "" || !(r.Worst <= rightZ) || !(r.RHat <= rightRHat) || math.IsInf(r.ESS, 0) {
		return 0
	}
	return r.ESS
}

// BenchmarkPeerSamplersOfPosteriorDB samples every posterior of posteriordb that has reference draws by our sampler and by its peers, each at its
// defaults with 1000 draws of 4 chains on one thread, and prints a table of effective draws for each second of processor time and for each gradient,
// warm-up included. A run whose means or standard deviations are more than 5 standard errors off, or whose R-hat is above 1.05, counts as 0. Rows are
// kept in a folder, and a row that is there is not made again. It needs
//
//	EURYALE_POSTERIORDB  a copy of posteriordb (scripts/posteriordb.sh)
//	EURYALE_PYTHON       Python with stanli, nutpie, bridgestan, stanio, owalnuts and blackjax
//	EURYALE_ROWS         optional: the folder of the rows, bench/posteriordb otherwise
//	EURYALE_POSTERIORS   optional: a regular expression for the names of posteriors
//	EURYALE_SEEDS        optional: the number of seeds, 1 otherwise
func BenchmarkPeerSamplersOfPosteriorDB(b *testing.B) {
	dir := os.Getenv("EURYALE_POSTERIORDB")
	if dir == "" {
		b.Skip("EURYALE_POSTERIORDB names no copy of posteriordb")
	}
	if _, err := os.Stat(filepath.Join(dir, "posterior_database")); err == nil {
		dir = filepath.Join(dir, "posterior_database")
	}
	files := referenceFiles(dir)
	only := regexp.MustCompile(os.Getenv("EURYALE_POSTERIORS"))
	seeds := 1
	if n, err := strconv.Atoi(os.Getenv("EURYALE_SEEDS")); err == nil && n > 0 {
		seeds = n
	}
	rows := os.Getenv("EURYALE_ROWS")
	if rows == "" {
		rows = filepath.Join("..", "..", "bench", "posteriordb")
	}
	if err := os.MkdirAll(rows, 0o755); err != nil {
		b.Fatal(err)
	}
	fmt.Print("| posterior |")
	for _, s := range samplers {
		fmt.Printf(" %s ESS/s | ESS/gradient | worst z |", s)
	}
	fmt.Println(" times the best peer |\n|---|" + strings.Repeat("---|", 3*len(samplers)+1))
	var ratios []float64
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json.zip")
		if !only.MatchString(name) {
			continue
		}
		r, err := readReference(dir, name, f)
		if err != nil {
			fmt.Printf("| %s | %v |\n", name, err)
			continue
		}
		if ratio, ok := r.race(rows, seeds); ok {
			ratios = append(ratios, ratio)
		}
	}
	if len(ratios) == 0 {
		return
	}
	slices.Sort(ratios)
	above := 0
	for _, x := range ratios {
		if x >= 1 {
			above++
		}
	}
	fmt.Printf("# %d posteriors: at the median %.2f times the effective draws per second of the best peer, at least %.2f; %d are ahead or even\n", len(ratios), ratios[len(ratios)/2], ratios[0], above)
}

// race prints the row of a posterior, medians over seeds, and returns by how much ours is faster than the best peer. It is false where no peer and not ours
// counts.
func (r *referencePosterior) race(rows string, seeds int) (ratio float64, ok bool) {
	fmt.Printf("| %s |", r.name)
	var ours, best float64
	for i, sampler := range samplers {
		var second, gradient, worst []float64
		fault := ""
		for seed := 1; seed <= seeds; seed++ {
			row, err := r.row(rows, sampler, seed)
			if err != nil {
				fault = err.Error()
				continue
			}
			if row.Fault != "" {
				fault = row.Fault
			}
			second, gradient, worst = append(second, row.perSecond()), append(gradient, row.perGradient()), append(worst, row.Worst)
		}
		if len(second) == 0 {
			fmt.Printf(" %s | | |", strings.ReplaceAll(fault, "\n", " "))
			continue
		}
		for _, x := range [][]float64{second, gradient, worst} {
			slices.Sort(x)
		}
		middle := len(second) / 2
		fmt.Printf(" %.4g | %.3g | %.1f%s |", second[middle], gradient[middle], worst[middle], map[bool]string{true: " " + fault}[fault != ""])
		if i == 0 {
			ours = second[middle]
		} else {
			best = max(best, second[middle])
		}
	}
	if ours == 0 && best == 0 {
		fmt.Println(" none counts |")
		return 0, false
	}
	fmt.Printf(" %.2f |\n", ours/best)
	return ours / best, true
}

// row reads the row of a run, or makes and keeps it.
func (r *referencePosterior) row(rows, sampler string, seed int) (row samplerRow, err error) {
	file := filepath.Join(rows, fmt.Sprintf("%s.%s.%d.json", r.name, sampler, seed))
	if b, err := os.ReadFile(file); err == nil {
		return row, json.Unmarshal(b, &row)
	}
	if sampler == "ours" {
		row, err = r.ownRow(uint64(seed))
	} else {
		row, err = r.peerRow(sampler, seed)
	}
	if err != nil {
		return row, err
	}
	b, err := json.Marshal(row)
	if err != nil { // infinite
		row.Fault, row.judged = "no comparison", judged{}
		b, _ = json.Marshal(row)
	}
	return row, os.WriteFile(file, b, 0o600)
}

func (r *referencePosterior) ownRow(seed uint64) (row samplerRow, err error) {
	post, err := r.compile()
	if err != nil {
		return row, err
	}
	ctx, stop := context.WithTimeout(context.Background(), longestWait)
	defer stop()
	start := peer.CPUTime()
	fit, err := infer.Sample(ctx, post, infer.Settings{Seed: seed, Parallel: 1})
	row.Seconds = peer.CPUTime() - start
	switch {
	case ctx.Err() != nil || row.Seconds > samplerPatience.Seconds():
		row.Fault = fmt.Sprintf("not within %v", samplerPatience)
		return row, nil
	case err != nil:
		return row, err
	}
	warm, kept := fit.Gradients()
	row.judged, row.Gradients = r.judge(fit.Draws), warm+kept
	return row, nil
}

func (r *referencePosterior) peerRow(sampler string, seed int) (row samplerRow, err error) {
	python := os.Getenv("EURYALE_PYTHON")
	if python == "" {
		return row, errors.New("EURYALE_PYTHON names no Python")
	}
	data, err := os.CreateTemp("", "posterior*.json")
	if err != nil {
		return row, err
	}
	defer os.Remove(data.Name())
	if _, err := data.Write(r.data); err != nil {
		return row, err
	}
	data.Close()
	ctx, stop := context.WithTimeout(context.Background(), longestWait)
	defer stop()
	args := append([]string{"-c", fmt.Sprintf(`ulimit -t %.0f; exec "$@"`, samplerPatience.Seconds()), "sh", python, "-W", "ignore",
		filepath.Join("..", "..", "scripts", "peers", "posteriordb.py"), sampler, r.program, data.Name(), strconv.Itoa(seed)}, r.columns()...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	out, err := cmd.Output()
	if spent := cmd.ProcessState; ctx.Err() != nil || spent != nil && (spent.SystemTime()+spent.UserTime()).Seconds() > 0.99*samplerPatience.Seconds() {
		row.Fault = fmt.Sprintf("not within %v", samplerPatience)
		return row, nil
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		row.Fault = cmp.Or(lines[len(lines)-1], exit.Error())
		return row, nil
	}
	var doc struct {
		Seconds   float64
		Gradients int
		Columns   map[string][][]float64
	}
	if err == nil {
		err = json.Unmarshal(out, &doc)
	}
	if err != nil {
		return row, err
	}
	row.Seconds, row.Gradients = doc.Seconds, doc.Gradients
	row.judged = r.judge(func(name string) [][]float64 { return doc.Columns[name] })
	return row, nil
}
