// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// A process without a driver is told so, by every way in, and nothing crashes.
func TestProcessWithoutDriver(t *testing.T) {
	const child = "EURYALE_TEST_WITHOUT_DRIVER"
	if os.Getenv(child) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Skip(err)
		}
		cmd := exec.Command(self, "-test.run", "^TestProcessWithoutDriver$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1", dl.Variable("CUDA")+"="+filepath.Join(t.TempDir(), "nothing.so"))
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	_, devices := Devices()
	_, open := Open(0, Settings{})
	for _, err := range []error{Available(), devices, open} {
		var missing *dl.NotFound
		if !errors.Is(err, ErrNoDriver) || !errors.As(err, &missing) {
			t.Errorf("got %v, want ErrNoDriver with what was tried", err)
		}
	}
}

func TestDevicesAreDescribed(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("memory", 3<<30)
	s := newSystem()
	all, err := s.devices()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d devices, %v", len(all), err)
	}
	i := all[1]
	if i.Ordinal != 1 || i.Name != "Pretend GPU 1" || i.Capability != [2]int{9, 0} || i.MemoryGB != 3 || i.WarpSize != 32 || i.MaxBlock != [3]int{1024, 1024, 64} ||
		i.ClockMHz != 1980 || i.MemoryClockMHz != 3201 || i.MemoryBusBits != 6144 || i.SharedOptin != 232448 || !i.SupportsPools || i.Bus != "0000:02:00.0" ||
		i.UUID != "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f" || i.DriverVersion != 13000 || i.DriverPath != lib.Path {
		t.Errorf("device 1 is %+v", i)
	}
	if lib.Get("cuDevicePrimaryCtxRetain") != 0 {
		t.Error("a description made a context")
	}
	lib.Set("devices", 0)
	if _, err := s.devices(); !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "CUDA_VISIBLE_DEVICES") {
		t.Errorf("got %v, want ErrNoDevice", err)
	}
}

func TestOpenIsCounted(t *testing.T) {
	lib := pretend.LookPath(t)
	s := newSystem()
	d, err := s.device(0, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.device(0, Settings{}); again != d || err != nil {
		t.Errorf("a second Open: %p, %v", again, err)
	}
	if _, err := s.device(0, Settings{Allocator: Direct}); err == nil || !strings.Contains(err.Error(), "other options") {
		t.Errorf("other options: %v", err)
	}
	if _, err := s.device(2, Settings{}); !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "devices is 2") {
		t.Errorf("device 2: %v", err)
	}
	if n := lib.Get("cuDevicePrimaryCtxRetain"); n != 1 {
		t.Errorf("the context was retained %d times", n)
	}
	b := alloc(t, d, []byte{1}, 1)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if free, total, err := d.MemInfo(); err != nil || total != 1<<30 || free >= total {
		t.Errorf("the other user: %d of %d B, %v", free, total, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if lib.Get("leaks") != 0 {
		t.Errorf("%d things were not given back", lib.Get("leaks"))
	}
	b.Free()
	for _, err := range []error{d.CopyOut(background, []byte{0}, b, 0), d.Trim(), d.Default().Synchronize(background)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: got %v, want ErrClosed", err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	e, err := s.device(0, Settings{})
	if err != nil || e == d {
		t.Fatalf("opened anew: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// Close waits for calls that are inside the driver and for work that was started.
func TestCloseDuringWork(t *testing.T) {
	lib := pretend.LookPath(t)
	for seed := range 5 {
		lib.Reset()
		lib.Set("seed", seed)
		d, err := newSystem().device(0, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		b := alloc(t, d, nil, 1<<20)
		done := make(chan error)
		for range 4 {
			go func() {
				for {
					if err := d.Default().Fill(b, 0, 1<<20, 1); err != nil {
						done <- err
						return
					}
				}
			}()
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		for range 4 {
			if err := <-done; !errors.Is(err, ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		}
		if n := lib.Get("leaks"); n != 0 {
			t.Errorf("%d things were not given back", n)
		}
	}
}
