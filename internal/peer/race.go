// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Done is what one run of some work has done.
type Done struct {
	Units float64 // amount of work, such as fits or effective draws; 0 means 1
	Check float64 // number that everyone who does the work must find; NaN where there is none

	Count func() float64 // counts the units in place of Units where this takes time that is not part of the work; or nil
}

// Race is work that we do and others do too. Benchmarks whose names begin with Peer
// run races, which make bench-peers prints as one table.
type Race struct {
	Name  string
	Unit  string // what is counted, such as "fit"; "" where a run is one unit
	Ours  func() (Done, error)
	Peers []Rival
	Bytes float64 // bytes that a unit must read and write at least, 0 where that says nothing
	Flops float64 // floating-point operations of a unit, 0 where they say nothing
	Tol   float64 // relative difference that checks may have; 0 means 1e-6

	Single bool // whether the operations are of float32
}

// rounds is how often everybody runs, one after the other.
const rounds = 5

// leastTime is how long a measurement lasts, by repeating the work.
const leastTime = 200 * time.Millisecond

// Run measures the race: everybody in turn, five times, first on one thread and then on
// two. It prints a line for each peer, of the medians, and reports them as metrics.
func (r Race) Run(b *testing.B) {
	b.Helper()
	head()
	var one, two []result
	for b.Loop() {
		one, two = r.on(b, 1), r.on(b, 2)
	}
	b.ReportMetric(0, "ns/op")
	r.report(b, one, two, measured().time(r))
}

// result is what somebody took for a unit, in seconds, as the median of the rounds.
type result struct {
	name      string
	cpu, wall float64
	check     float64
	absent    error
}

// on runs everybody on some threads and returns our result and then the peers'.
func (r Race) on(b *testing.B, threads int) []result {
	everybody := []runner{&ourselves{work: r.Ours, threads: threads}}
	results := make([]result, 1+len(r.Peers))
	results[0].name = "Euryale"
	for i, p := range r.Peers {
		if p.Own != nil {
			results[i+1].name = p.Name
			everybody = append(everybody, &ourselves{work: p.Own, threads: threads})
			continue
		}
		child, err := p.start(b, threads)
		results[i+1] = result{name: p.Name, absent: err}
		if err == nil {
			results[i+1].name = child.version
			defer child.stop()
		}
		everybody = append(everybody, child)
	}
	runs := make([][]measurement, len(everybody))
	for range rounds {
		for i, who := range everybody {
			if results[i].absent != nil {
				continue
			}
			m, err := who.run()
			if results[i].absent = err; err != nil && i == 0 {
				b.Fatal(err)
			}
			runs[i] = append(runs[i], m)
		}
	}
	for i := range results {
		if results[i].absent == nil {
			results[i].cpu = median(runs[i], func(m measurement) float64 { return m.CPU / m.Units })
			results[i].wall = median(runs[i], func(m measurement) float64 { return m.Wall / m.Units })
			results[i].check = runs[i][0].Check
			for _, m := range runs[i][1:] {
				if r.off(m.Check, results[i].check) > r.tolerance() {
					b.Errorf("%s: %s finds %g, and %g in another round", r.Name, results[i].name, results[i].check, m.Check)
				}
			}
		}
	}
	return results
}

func median(list []measurement, of func(measurement) float64) float64 {
	v := make([]float64, len(list))
	for i, m := range list {
		v[i] = of(m)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// report prints a line for each peer, or one where there is none.
func (r Race) report(b *testing.B, one, two []result, floor float64) {
	ours, ours2 := one[0], two[0]
	b.ReportMetric(ours.cpu*1e3, "CPU-ms")
	b.ReportMetric(ours2.wall*1e3, "ms-of-2")
	floors := "- | -"
	if floor > 0 {
		floors = fmt.Sprintf("%s | %.2f", number(floor*1e3), ours.cpu/floor)
		b.ReportMetric(ours.cpu/floor, "x-floor")
	}
	name := r.Name
	if r.Unit != "" {
		name += ", per " + r.Unit
	}
	line := func(peer, cpu, cpuRatio, wall, wallRatio, agrees string) {
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, peer,
			number(ours.cpu*1e3), cpu, cpuRatio, number(ours2.wall*1e3), wall, wallRatio, floors, agrees)
	}
	if len(one) == 1 {
		line("none", "-", "-", "-", "-", "-")
	}
	for i := range one[1:] {
		p, p2 := one[i+1], two[i+1]
		if err := cmp.Or(p.absent, p2.absent); err != nil {
			line(p.name+" absent: "+firstLine(err), "-", "-", "-", "-", "-")
			continue
		}
		line(p.name, number(p.cpu*1e3), fmt.Sprintf("%.2f", p.cpu/ours.cpu), number(p2.wall*1e3), fmt.Sprintf("%.2f", p2.wall/ours2.wall),
			r.agreement(b, ours.check, p.check))
		short, _, _ := strings.Cut(p.name, " ")
		b.ReportMetric(p.cpu/ours.cpu, "x-"+short)
	}
}

// agreement compares what two found, and fails the benchmark where they differ.
func (r Race) agreement(b *testing.B, ours, theirs float64) string {
	if math.IsNaN(ours) || math.IsNaN(theirs) {
		return "-"
	}
	off := r.off(ours, theirs)
	if off > r.tolerance() {
		b.Errorf("%s: we find %g and the peer %g, which differ by %.2g of that; %.2g is allowed", r.Name, ours, theirs, off, r.tolerance())
	}
	return fmt.Sprintf("%.0e", off)
}

// off is the difference of two answers, as a part of the second; 0 where there are none.
func (r Race) off(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return 0
	}
	return math.Abs(a-b) / max(math.Abs(b), math.SmallestNonzeroFloat64)
}

func (r Race) tolerance() float64 { return cmp.Or(r.Tol, 1e-6) }

// number writes a time in ms with three digits.
func number(ms float64) string {
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Floor(math.Log10(max(ms, 1e-9))))), ms)
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return strings.ReplaceAll(s, "|", "/")
}

// measurement is what one round took.
type measurement struct {
	CPU, Wall float64 // seconds
	Done
}

// runner does the work once more and says what that took.
type runner interface {
	run() (measurement, error)
}

// ourselves does our part in this process.
type ourselves struct {
	work    func() (Done, error)
	threads int
	repeat  int // how often a measurement does the work, found by the first run
}

func (o *ourselves) run() (measurement, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.threads))
	if o.repeat == 0 { // the first run warms up
		m, err := o.times(1)
		if err != nil {
			return m, err
		}
		m, err = o.times(1)
		if err != nil {
			return m, err
		}
		o.repeat = 1 + int(leastTime.Seconds()/max(m.Wall, 1e-9))
	}
	runtime.GC()
	return o.times(o.repeat)
}

func (o *ourselves) times(n int) (m measurement, err error) {
	cpu, start := CPUTime(), time.Now()
	for range n {
		d, err := o.work()
		if err != nil {
			return m, err
		}
		if d.Count != nil {
			before, from := CPUTime(), time.Now()
			d.Units = d.Count()
			cpu, start = cpu+CPUTime()-before, start.Add(time.Since(from))
		}
		m.Units += cmp.Or(d.Units, 1)
		m.Check = d.Check
	}
	m.Wall, m.CPU = time.Since(start).Seconds(), CPUTime()-cpu
	return m, nil
}
