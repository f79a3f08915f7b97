// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

func TestNoDriverNamesWhatWasTried(t *testing.T) {
	t.Setenv(dl.Variable("CUDA"), filepath.Join(t.TempDir(), "libcuda.so.1"))
	_, err := Open()
	if !errors.Is(err, ErrNoDriver) {
		t.Fatalf("got %v, want ErrNoDriver", err)
	}
	var missing *dl.NotFound
	if !errors.As(err, &missing) {
		t.Fatalf("%v holds no dl.NotFound", err)
	}
	if missing.Reason == "" && (len(missing.Tried) != 1 || !strings.Contains(err.Error(), "EURYALE_LIBCUDA")) {
		t.Errorf("the error does not say what was tried: %v", err)
	}
}

// A library that is no driver, or an old one, is told from none.
func TestForeignLibraryIsTooOld(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the library is Linux's")
	}
	t.Setenv(dl.Variable("CUDA"), "libc.so.6")
	_, err := Open()
	if errors.Is(err, ErrNoDriver) {
		t.Skipf("lacks libc.so.6: %v", err)
	}
	if !errors.Is(err, ErrDriverTooOld) || !strings.Contains(err.Error(), "cuInit") {
		t.Errorf("got %v, want ErrDriverTooOld that names cuInit", err)
	}
}

func TestDriverWithoutDevice(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("devices", 0)
	if _, err := Open(); !errors.Is(err, ErrNoDevice) || !errors.Is(err, NoDevice) {
		t.Errorf("got %v, want ErrNoDevice", err)
	}
	lib.Set("devices", 1)
	lib.Set("version", 10020)
	if _, err := Open(); !errors.Is(err, ErrDriverTooOld) || !strings.Contains(err.Error(), "10.2") {
		t.Errorf("got %v, want ErrDriverTooOld with 10.2", err)
	}
}

func TestOldDriverLacksFeatures(t *testing.T) {
	lib := pretend.LookPath(t)
	d := open(t)
	for f := FeaturePools; f <= FeaturePeers; f++ {
		if !d.Has(f) {
			t.Errorf("the new driver lacks feature %d", f)
		}
	}
	t.Setenv(dl.Variable("CUDA"), lib.Old)
	old, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range map[Feature]bool{FeaturePools: false, FeatureGraphs: false, FeatureGraphUpdate: false, FeatureParameters: false, FeatureUUID: true, FeaturePeers: true} {
		if old.Has(f) != want {
			t.Errorf("old driver: feature %d is %v, want %v", f, !want, want)
		}
	}
	if err := old.CaptureBegin(0); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "cuStreamBeginCapture_v2") {
		t.Errorf("got %v, want ErrUnsupported that names the entry point", err)
	}
}

func open(t *testing.T) *Driver {
	t.Helper()
	d, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestErrorsAreTyped(t *testing.T) {
	lib := pretend.LookPath(t)
	d := open(t)
	lib.Fail("cuDeviceGetCount", 1, 2, 998)
	if n, err := d.DeviceCount(); n != 2 || err != nil {
		t.Errorf("%d devices, %v", n, err)
	}
	for range 2 {
		_, err := d.DeviceCount()
		var e *Error
		if !errors.As(err, &e) || e.Code != 998 || e.Name != "CUDA_ERROR_FROM_THE_FUTURE" || e.Call != "cuDeviceGetCount" {
			t.Errorf("got %v", err)
		}
	}
	lib.Fail("cuDeviceGetCount", 0, 1, 997)
	if _, err := d.DeviceCount(); !errors.Is(err, Result(997)) || !strings.Contains(err.Error(), "997") {
		t.Errorf("got %v", err)
	}
	if _, err := d.Device(7); !errors.Is(err, InvalidDevice) || errors.Is(err, OutOfMemory) {
		t.Errorf("got %v, want InvalidDevice", err)
	}
}

// The current context belongs to the thread: Enter must come before every use.
func TestContextsBelongToThreads(t *testing.T) {
	pretend.LookPath(t)
	d := open(t)
	c, err := d.Retain(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Enter(c); err != nil {
		t.Fatal(err)
	}
	defer d.Leave()
	if err := onNewThread(t, d); !errors.Is(err, InvalidContext) {
		t.Errorf("a thread without a context: got %v, want InvalidContext", err)
	}
	if now, err := d.Current(); now != c || err != nil {
		t.Errorf("the current context is %x, %v", now, err)
	}
	p, err := d.MemAlloc(16)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.MemFree(p); err != nil {
		t.Error(err)
	}
	if err := d.MemFree(p); !errors.Is(err, InvalidValue) {
		t.Errorf("second free: got %v, want InvalidValue", err)
	}
}

// onNewThread allocates on a thread on which no context is current. Threads of earlier goroutines, which
// still have theirs, are held until one without is found.
func onNewThread(t *testing.T, d *Driver) error {
	t.Helper()
	end := make(chan struct{})
	defer close(end)
	type answer struct {
		used bool
		err  error
	}
	got := make(chan answer)
	for range 100 {
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			now, err := d.Current()
			if now != 0 {
				got <- answer{used: true}
				<-end
				return
			}
			if err == nil {
				_, err = d.MemAlloc(16)
			}
			got <- answer{err: err}
		}()
		if a := <-got; !a.used {
			return a.err
		}
	}
	return errors.New("every thread has a context")
}

func TestGoroutinesShareTheDriver(t *testing.T) {
	lib := pretend.LookPath(t)
	d := open(t)
	c, err := d.Retain(0)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := roundTrip(d, c, i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := lib.Get("allocations"); n != 0 {
		t.Errorf("%d allocations are left", n)
	}
}

func roundTrip(d *Driver, c Context, i int) error {
	if err := d.Enter(c); err != nil {
		return err
	}
	defer d.Leave()
	p, err := d.MemAlloc(64)
	if err != nil {
		return err
	}
	in, out := []byte{1, 2, byte(i)}, make([]byte, 3)
	if err := errors.Join(d.CopyIn(p, in), d.CopyOut(out, p), d.MemFree(p)); err != nil {
		return err
	}
	if string(in) != string(out) {
		return errors.New("the copy differs")
	}
	return nil
}

// Calls that happen once per launch do not allocate.
func TestHotCallsDoNotAllocate(t *testing.T) {
	pretend.LookPath(t)
	d := open(t)
	c, err := d.Retain(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Enter(c); err != nil {
		t.Fatal(err)
	}
	defer d.Leave()
	s, err1 := d.StreamCreate(0)
	e, err2 := d.EventCreate(false)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(200, func() {
		d.Enter(c)
		d.EventRecord(e, s)
		d.StreamWait(s, e)
		d.EventQuery(e)
		d.Leave()
	})
	if n >= 1 && !raceDetector {
		t.Errorf("five calls allocate %v times", n)
	}
}

func TestEveryResultHasAName(t *testing.T) {
	for r, name := range resultNames {
		if r != Success && !strings.HasPrefix(name, "CUDA_ERROR_") {
			t.Errorf("%d is called %s", r, name)
		}
		if r.Sticky(false) && !r.Sticky(true) {
			t.Errorf("%s is sticky, except in a launch", name)
		}
	}
	if len(resultNames) < 95 || OutOfMemory.Name() != "CUDA_ERROR_OUT_OF_MEMORY" || Result(12345).Name() != "CUDA_ERROR_12345" {
		t.Errorf("%d results are known", len(resultNames))
	}
	for _, r := range []Result{InvalidValue, OutOfMemory, NoDevice, InvalidDevice, InvalidImage, NoBinaryForGPU, InvalidPTX, InvalidHandle,
		NotFound, NotReady, LaunchOutOfResources, StreamCaptureUnsupported, CapturedEvent} {
		if r.Sticky(true) {
			t.Errorf("%s kills the context", r.Name())
		}
	}
	if Unknown.Sticky(false) || !Unknown.Sticky(true) {
		t.Error("an unknown error kills the context if, and only if, a launch or synchronisation returned it")
	}
	for _, r := range []Result{700, 702, 710, 714, 715, 716, 717, 718, 719, 214, 220, 721} {
		if !r.Sticky(false) {
			t.Errorf("%s does not kill the context", r.Name())
		}
	}
}
