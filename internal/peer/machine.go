// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
)

// head prints what the figures of a process hold for, and the titles of their table.
var head = sync.OnceFunc(func() {
	now, r := moment(), measured()
	fmt.Println("# " + machine())
	fmt.Printf("# %s: one thread moves %.1f GB/s to and from memory and multiplies matrices (ours, 768 x 768) at %.1f and %.1f Gflop/s (float64, float32), which floors are made of; two threads that share nothing move %.2f and multiply %.2f times as much\n",
		now, r.bandwidth/1e9, r.flops64/1e9, r.flops32/1e9, r.traffic, r.products)
	fmt.Println("| work | peer | CPU time of one thread, ms: ours | peer | peer/ours | time with two threads, ms: ours | peer | peer/ours | floor, ms | ours/floor | relative difference of results |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
})

// Machine prints the machine, its load and the time, above a table of what is measured there.
func Machine() {
	fmt.Printf("# %s\n# %s\n", machine(), moment())
}

// machine names the processor, Go and the commit.
func machine() string {
	return fmt.Sprintf("%s, %d processors, %s %s/%s, commit %s", processor(), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, commit())
}

// moment is the load now, and the time.
func moment() string {
	return fmt.Sprintf("load %s on %s", load(), time.Now().UTC().Format("2006-01-02 15:04"))
}

// roof is how fast one thread of this machine is: bytes to and from memory and
// floating-point operations in a second. products and traffic are how many times as much two threads do that share nothing.
type roof struct{ bandwidth, flops64, flops32, products, traffic float64 }

// time returns the seconds that work takes at least: the longer of moving its bytes and
// of doing its operations.
func (r roof) time(work Race) float64 {
	flops := r.flops64
	if work.Single {
		flops = r.flops32
	}
	return max(work.Bytes/r.bandwidth, work.Flops/flops)
}

// measured is the roof of this process, by sums of two arrays of 64 MiB and by matrix
// products.
var measured = sync.OnceValue(func() roof {
	const n, m = 8 << 20, 768
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	x, y, z := make([]float32, m*m), make([]float32, m*m), make([]float32, m*m)
	var ws kernels.Workspace
	add := func(from, to int) {
		a, b, c := a[from:to], b[from:to], c[from:to]
		for k := range c {
			c[k] = a[k] + 3*b[k]
		}
	}
	procs := runtime.GOMAXPROCS(1)
	r := roof{
		bandwidth: best(24*n, func() { add(0, n) }),
		flops64:   best(2*m*m*m, func() { kernels.Gemm64(kernels.Best(), &ws, false, false, m, m, m, 1, a, m, b, m, 0, c, m) }),
		flops32:   best(2*m*m*m, func() { kernels.Gemm32(kernels.Best(), &ws, false, false, m, m, m, 1, x, m, y, m, 0, z, m) }),
	}
	runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(procs)
	var rooms [2]kernels.Workspace
	r.products = best(4*m*m*m, func() {
		parallel.Do(2, 2, func(_, i int) {
			from := i * m * m
			kernels.Gemm64(kernels.Best(), &rooms[i], false, false, m, m, m, 1, a[from:], m, b[from:], m, 0, c[from:], m)
		})
	}) / r.flops64
	r.traffic = best(24*n, func() { parallel.Do(2, 2, func(_, i int) { add(i*n/2, (i+1)*n/2) }) }) / r.bandwidth
	return r
})

// best returns how much of an amount is done in a second, by the shortest of some runs.
func best(amount float64, do func()) float64 {
	do()
	least := time.Duration(1 << 62)
	for range 7 {
		start := time.Now()
		do()
		least = min(least, time.Since(start))
	}
	return amount / least.Seconds()
}

// processor names the machine's processor, where the system tells.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); err == nil && len(f) > 0 {
		return f[0]
	}
	return "unknown"
}

func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
