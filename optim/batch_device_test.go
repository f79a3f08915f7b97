// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// sameFits compares the fits of a device with those of the processor: parameters and covariances to 1e-8 of
// themselves, and of the standard deviation where a parameter is near 0.
func sameFits(t testing.TB, name string, got, want *optim.BatchResult) (evaluations int) {
	t.Helper()
	worst := [3]float64{}
	n := len(want.Names)
	for i := range want.Status {
		evaluations += want.NFev[i]
		if got.Status[i].Converged() != want.Status[i].Converged() || got.Points[i] != want.Points[i] || got.Reason(i) != want.Reason(i) && !want.Status[i].Converged() {
			t.Errorf("%s: row %d: %s after %d, want %s after %d", name, i, got.Reason(i), got.NFev[i], want.Reason(i), want.NFev[i])
			continue
		}
		if !want.Status[i].Converged() {
			continue
		}
		off := func(g, w, scale float64) float64 {
			if g == w || math.IsNaN(g) && math.IsNaN(w) {
				return 0
			}
			return math.Abs(g-w) / scale
		}
		for k, x := range want.Row(i) {
			sd := want.SDs(i)[k]
			worst[0] = max(worst[0], off(got.Row(i)[k], x, max(math.Abs(x), sd)))
			worst[1] = max(worst[1], off(got.SDs(i)[k], sd, sd))
			if want.FreeSD != nil {
				worst[1] = max(worst[1], off(got.FreeSD[i*n+k], want.FreeSD[i*n+k], sd))
				if got.Active[i*n+k] != want.Active[i*n+k] {
					t.Errorf("%s: row %d: active %v, want %v", name, i, got.Active[i*n:i*n+n], want.Active[i*n:i*n+n])
				}
			}
		}
		worst[2] = max(worst[2], off(got.Cost[i], want.Cost[i], want.Cost[i]), off(got.ChiSquared[i], want.ChiSquared[i], want.ChiSquared[i]))
	}
	if !(worst[0] < 1e-8) || !(worst[1] < 1e-8) || !(worst[2] < 1e-10) {
		t.Errorf("%s: parameters differ by %.1e, standard deviations by %.1e, costs by %.1e", name, worst[0], worst[1], worst[2])
	}
	t.Logf("%s: parameters within %.1e, standard deviations within %.1e, costs within %.1e", name, worst[0], worst[1], worst[2])
	return evaluations
}

// opened returns the device that the tests use.
func opened(t testing.TB, number int) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(number, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// Fits on a device are those of the processor, with weights, bounds and losses, the same bits in every run; each row's
// data cross the bus once.
func TestBatchOnDevice(t *testing.T) {
	pretend.Shared(t)
	d := opened(t, 0)
	x := logspace(-2.5, 1, 24)
	b := decays(t, x)
	const n = 150
	rows := decayRows(x, n, 5e-3)
	rows.Weights = make([]float64, n*len(x))
	for i := range rows.Weights {
		if rows.Weights[i] = 100 / (1 + float64(i%7)); i%11 == 3 {
			rows.Weights[i] = 0
		}
	}
	rows.Columns[0] = slices.Clone(rows.Columns[0])
	rows.Columns[0][5*len(x)+2] = math.NaN()
	bounded := rows
	bounded.Lower, bounded.Upper = []float64{0.9, 0.15, 0.3}, []float64{1.001, 0.3, 0.8}
	for _, c := range []struct {
		name string
		rows optim.Rows
		s    optim.BatchSettings
	}{
		{"plain", rows, optim.BatchSettings{Covariance: true, RelativeSigma: true}},
		{"huber within bounds", bounded, optim.BatchSettings{Covariance: true, Loss: optim.Huber, LossScale: 0.7}},
	} {
		want, err := b.Fit(context.Background(), c.rows, c.s)
		if err != nil {
			t.Fatal(err)
		}
		c.s.Backend = ad.CUDA{Strict: true}
		d.ResetPeak()
		got, err := b.Fit(context.Background(), c.rows, c.s)
		if err != nil || !slices.Equal(got.Devices, []string{"cuda:0"}) {
			t.Fatal(err, got)
		}
		evaluations := sameFits(t, c.name, got, want)
		// Data, starts and results cross once, a step nothing but how many rows have ended. Residuals and Jacobians of
		// every step would be 4 columns, and rho under a loss.
		traffic, columns := d.Stats(), 4
		if c.s.Loss != "" {
			columns = 5
		}
		bytes, naive := int(traffic.Sent+traffic.Fetched), evaluations*8*columns*len(x)
		if bytes > naive/10 {
			t.Errorf("%s: %d bytes crossed the bus: want at most a tenth of %d", c.name, bytes, naive)
		}
		t.Logf("%s: %d bytes sent, %d fetched in %d copies: %.1f%% of the residuals and Jacobians of %d evaluations; %d rows left", c.name, traffic.Sent, traffic.Fetched, traffic.Copies, 100*float64(bytes)/float64(naive), evaluations, got.Left)
		again, err := b.Fit(context.Background(), c.rows, c.s)
		if err != nil || !slices.Equal(again.NFev, got.NFev) || fmt.Sprint(again.X, again.SD, again.Cov, again.Cost) != fmt.Sprint(got.X, got.SD, got.Cov, got.Cost) {
			t.Errorf("%s: other bits in another run: %v", c.name, err)
		}
		if !strings.Contains(got.Reason(5), "y[2] is NaN") {
			t.Errorf("%s: %s", c.name, got.Reason(5))
		}
	}
}

// Rows are shared by several devices; what a device cannot fit well the processor does, with its bits; an interrupted
// call keeps what has ended; one without memory says so.
func TestBatchSharedByDevices(t *testing.T) {
	lib := pretend.Shared(t)
	x := logspace(-2.5, 1, 12)
	b := decays(t, x)
	rows := decayRows(x, 300, 1e-2)
	want, err := b.Fit(context.Background(), rows, optim.BatchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Fit(context.Background(), rows, optim.BatchSettings{Backend: ad.Several{{Device: 0}, {Device: 1}}})
	if err != nil || len(got.Devices) != 2 {
		t.Fatal(err, got)
	}
	sameFits(t, "two devices", got, want)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err = b.Fit(ctx, rows, optim.BatchSettings{Backend: ad.CUDA{}}); err == nil || got.Status[7] != optim.Interrupted {
		t.Errorf("cancelled: %v %v", err, got)
	}
	lib.Fail("cuMemAlloc_v2", 0, 1000, int32(drv.OutOfMemory))
	lib.Fail("cuMemAllocAsync", 0, 1000, int32(drv.OutOfMemory))
	d := opened(t, 0)
	held := fillUp(d)
	_, err = b.Fit(context.Background(), rows, optim.BatchSettings{Backend: ad.CUDA{}})
	for _, x := range held {
		x.Free()
	}
	lib.Fail("cuMemAlloc_v2", 0, 0, 0)
	lib.Fail("cuMemAllocAsync", 0, 0, 0)
	if !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("without memory: %v", err)
	}
	if got, err = b.Fit(context.Background(), rows, optim.BatchSettings{Backend: ad.CUDA{}}); err != nil {
		t.Errorf("with memory again: %v", err)
	}
	sameFits(t, "again", got, want)

	// Parameters that are nearly parallel: all rows go to the processor.
	p := inputs("a", "b")
	y := ad.Input("y", len(x))
	line := ad.Add(p[0], ad.Mul(p[1], ad.Const(slices.Repeat([]float64{1, 1 + 1e-5}, len(x)/2))))
	narrow, err := optim.NewBatch(ad.Sub(line, y), p, y)
	if err != nil {
		t.Fatal(err)
	}
	rows.Start = []float64{1, 1}
	if want, err = narrow.Fit(context.Background(), rows, optim.BatchSettings{}); err != nil {
		t.Fatal(err)
	}
	if got, err = narrow.Fit(context.Background(), rows, optim.BatchSettings{Backend: ad.CUDA{}}); err != nil || got.Left != 300 || !slices.Equal(got.X, want.X) || !slices.Equal(got.SD, want.SD) {
		t.Errorf("nearly parallel: %d rows left to the processor, %v", got.Left, err)
	}
}

// fillUp takes what the pool of a device has left.
func fillUp(d *cuda.Device) (held []*cuda.Buffer) {
	for size := 1 << 28; size >= 512; size /= 2 {
		for {
			b, err := d.Alloc(size)
			if err != nil {
				break
			}
			held = append(held, b)
		}
	}
	return held
}

// More parameters than a thread forms products of at once.
func TestBatchOfManyParametersOnDevice(t *testing.T) {
	pretend.Shared(t)
	const n, m, count = 9, 21, 40
	a, y := ad.Input("a", n), ad.Input("y", m)
	basis := make([]float64, m*n)
	for i := range m {
		for k := range n {
			basis[i*n+k] = math.Cos(float64(k) * math.Acos(2*(float64(i)+0.5)/m-1))
		}
	}
	b, err := optim.NewBatch(ad.Sub(ad.Exp(ad.Scale(0.1, ad.MatMul(ad.Const(basis, m, n), a))), y), []*ad.Node{a}, y)
	if err != nil {
		t.Fatal(err)
	}
	rng := tensor.NewStream(5, 0, 0)
	rows := optim.Rows{Columns: [][]float64{nil}, Start: make([]float64, n)}
	for range m * count {
		rows.Columns[0] = append(rows.Columns[0], 1+0.2*rng.Normal())
	}
	for _, loss := range []optim.Loss{"", optim.SoftL1} {
		s := optim.BatchSettings{Loss: loss, LossScale: 0.1, Covariance: true}
		want, err := b.Fit(context.Background(), rows, s)
		if err != nil {
			t.Fatal(err)
		}
		s.Backend = ad.CUDA{Strict: true}
		got, err := b.Fit(context.Background(), rows, s)
		if err != nil {
			t.Fatal(err)
		}
		sameFits(t, "nine parameters, loss "+string(loss), got, want)
	}
}

// TestGPUSpeedBatchFits measures 1e5 fits of 64 points and 4 parameters on a GPU; scripts/gpu.sh starts it.
func TestGPUSpeedBatchFits(t *testing.T) {
	all := gpu.Need(t)
	const points, count = 64, 100_000
	x := logspace(-2.5, 1, points)
	p := inputs("b", "c", "t", "s")
	y := ad.Input("y", points)
	mean := ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Scale(-2, ad.Pow(ad.Div(ad.Const(x), p[2]), p[3])))))
	b, err := optim.NewBatch(ad.Sub(mean, y), p, y)
	if err != nil {
		t.Fatal(err)
	}
	rows := decayRows(x, count, 2e-3)
	rows.Start = []float64{1, 0.2, 0.5, 1}
	rows.Lower, rows.Upper = []float64{0.5, 0, 1e-3, 0.2}, []float64{1.5, 1, 100, 2}
	rows.Weights = slices.Repeat([]float64{500}, points*count)
	want, err := b.Fit(context.Background(), rows, optim.BatchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	d := opened(t, 0)
	var got *optim.BatchResult
	for range 4 {
		d.ResetPeak()
		begin := time.Now()
		if got, err = b.Fit(context.Background(), rows, optim.BatchSettings{Backend: ad.CUDA{}}); err != nil {
			t.Fatal(err)
		}
		st := d.Stats()
		t.Logf("%s: %d fits in %v, %d left to the processor, %.1f MB sent, %.1f MB fetched, peak %.2f GB", all[0].Name, count, time.Since(begin), got.Left, float64(st.Sent)/1e6, float64(st.Fetched)/1e6, float64(st.PeakReserved)/1e9)
	}
	off := 0
	for i := range count {
		for k, v := range want.Row(i) {
			if want.Status[i].Converged() && math.Abs(got.Row(i)[k]-v) > 1e-8*max(math.Abs(v), want.SDs(i)[k]) {
				off++
				break
			}
		}
	}
	if off > count/1000 { // rounding may lead a few elsewhere
		t.Errorf("%d fits differ by more than 1e-8", off)
	}
	t.Logf("%d fits differ by more than 1e-8", off)
}
