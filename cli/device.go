// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// deviceChoice says where the user wants graphs to be computed.
type deviceChoice struct {
	demanded bool   // a GPU, or an error
	anySize  bool   // a GPU for programs of every size, or the processor where there is none
	cpu      bool   // the processor
	ordinal  int    // of the GPU, the first of several
	several  string // numbers of several GPUs, such as "0,1", or "all"; "" for one
	by       string // flag or variable that made the choice, "" for the default
}

// String returns the value of --device that makes this choice.
func (d deviceChoice) String() string {
	switch {
	case d.cpu:
		return "cpu"
	case d.several != "":
		return "cuda:" + d.several
	case d.demanded:
		return fmt.Sprintf("cuda:%d", d.ordinal)
	}
	return "auto"
}

// gpus returns the numbers of the GPUs.
func (d deviceChoice) gpus() []int {
	if d.several == "" {
		return []int{d.ordinal}
	}
	var list []int
	for text := range strings.SplitSeq(d.several, ",") {
		n, _ := strconv.Atoi(text)
		list = append(list, n)
	}
	return list
}

// parseDevice reads a value of --device.
func parseDevice(text string) (deviceChoice, bool) {
	switch text {
	case "auto":
		return deviceChoice{}, true
	case "cpu":
		return deviceChoice{cpu: true}, true
	case "cuda":
		return deviceChoice{demanded: true}, true
	}
	numbers, ok := strings.CutPrefix(strings.ReplaceAll(text, ",cuda:", ","), "cuda:") // results name each device whole
	d := deviceChoice{demanded: true}
	if numbers == "all" {
		d.several = "all"
		return d, ok
	}
	list := strings.Split(numbers, ",")
	for i, number := range list {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= 1<<16 || strconv.Itoa(n) != number || slices.Contains(list[:i], number) {
			return d, false
		}
		if i == 0 {
			d.ordinal = n
		}
	}
	if len(list) > 1 {
		d.several = numbers
	}
	return d, ok
}

// chooseDevice resolves the choice of a device: by the flag, then by EURYALE_DEVICE, then by the
// variables of xpcs-toolkit, then auto.
func chooseDevice(flag string, given bool, env func(string) string) (deviceChoice, error) {
	for _, at := range []struct{ name, text string }{{"--device", flag}, {"EURYALE_DEVICE", env("EURYALE_DEVICE")}} {
		if at.name == "--device" && !given || at.text == "" && at.name != "--device" {
			continue
		}
		d, ok := parseDevice(at.text)
		if !ok {
			return d, usage("%s %q: want auto, cpu, cuda, cuda:N (one GPU), cuda:N,M (several) or cuda:all", at.name, at.text)
		}
		d.by = at.name
		return d, nil
	}
	return chooseAsToolkit(env)
}

// chooseAsToolkit follows XPCS_USE_GPU and XPCS_GPU_FALLBACK.
func chooseAsToolkit(env func(string) string) (deviceChoice, error) {
	var err error
	word := func(name string, otherwise bool) bool {
		switch text := strings.ToLower(env(name)); {
		case text == "":
			return otherwise
		case slices.Contains([]string{"true", "1", "yes", "on"}, text):
			return true
		case !slices.Contains([]string{"false", "0", "no", "off"}, text):
			err = errors.Join(err, usage("%s=%q: want true, 1, yes or on, or else false, 0, no or off", name, env(name)))
		}
		return false
	}
	if text := env("XPCS_GPU_MEMORY_FRACTION"); text != "" {
		if v, fail := strconv.ParseFloat(text, 64); fail != nil || !(v > 0 && v <= 1) {
			err = usage("XPCS_GPU_MEMORY_FRACTION=%q: want a number above 0 and at most 1; it has no other effect, as memory is allocated on demand", text)
		}
	}
	asked := env("XPCS_USE_GPU") != ""
	gpu, fallback := word("XPCS_USE_GPU", false), word("XPCS_GPU_FALLBACK", true)
	switch {
	case err != nil || !asked:
		return deviceChoice{}, err
	case !gpu:
		return deviceChoice{cpu: true, by: "XPCS_USE_GPU"}, nil
	}
	return deviceChoice{demanded: !fallback, anySize: fallback, by: "XPCS_USE_GPU"}, nil
}

func annotated(c *cobra.Command, key, value string) *cobra.Command {
	all := map[string]string{key: value}
	maps.Copy(all, c.Annotations)
	c.Annotations = all
	return c
}

// checkDevice resolves the choice for a command, and opens a GPU that is demanded, so that its
// absence is known before anything is read or written.
func (a *app) checkDevice(c *cobra.Command) error {
	d, err := chooseDevice(a.device, c.Flags().Changed("device"), os.Getenv)
	if err != nil {
		return err
	}
	kind := c.Annotations["device"]
	switch {
	case kind != "graphs" && d.demanded && d.by == "--device":
		return usage("%s runs on the CPU only: leave out --device %s", c.CommandPath(), a.device)
	case kind == "processor" && (d.demanded || d.anySize):
		a.log("info", "%s computes on the processor, whatever %s says", c.CommandPath(), d.by)
	}
	if kind != "graphs" {
		d = deviceChoice{cpu: true}
	}
	a.chosen = d
	return a.demand()
}

// demand opens the GPU, if one is demanded, with its compiler.
func (a *app) demand() error {
	if !a.chosen.demanded {
		return nil
	}
	if err := a.openChosen(); err != nil {
		return &exitError{code: exitNoDevice, err: fmt.Errorf("%s, selected by %s, cannot be used: %w", a.chosen, a.chosen.by, err), hint: "--device cpu"}
	}
	return nil
}

// openChosen opens the chosen GPUs, each with its compiler.
func (a *app) openChosen() error {
	if a.chosen.several == "all" {
		all, err := cuda.Devices()
		if err != nil {
			return err
		}
		var list []string
		for i := range all {
			list = append(list, strconv.Itoa(i))
		}
		if a.chosen.several = strings.Join(list, ","); len(list) == 1 {
			a.chosen.several = ""
		}
	}
	for _, n := range a.chosen.gpus() {
		g, err := cuda.Open(n, cuda.Options{})
		if err == nil {
			_, err = g.Compiler()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// goOnWhere continues a run on the device that has computed it so far, unless the user chose one
// now: only there do the rest of the draws have the same bits.
func (a *app) goOnWhere(recorded string) error {
	if recorded == "" { // a run of a version that knew only the processor
		recorded = "cpu"
	}
	if a.chosen.by != "" {
		if now := a.chosen.String(); now != "auto" && now != recorded {
			a.note("the run was computed on %s and continues on %s, so it agrees with an uninterrupted run only within rounding errors", recorded, now)
		}
		return nil
	}
	d, ok := parseDevice(recorded)
	if !ok {
		return as(exitConfig, fmt.Errorf("the run was recorded with the device %q: want cpu, cuda:N or auto", recorded))
	}
	d.by = "the run folder"
	a.chosen = d
	return a.demand()
}

// backend returns what computes graphs; the processor uses so many threads for each (0 for all).
func (a *app) backend(threads int) ad.Backend {
	d, cpu := a.chosen, ad.CPU{Threads: threads}
	switch {
	case d.cpu:
		return cpu
	case d.several != "":
		var all ad.Several
		for _, n := range d.gpus() {
			all = append(all, ad.CUDA{Device: n})
		}
		return all
	case d.demanded:
		return ad.CUDA{Device: d.ordinal}
	}
	auto := ad.Auto{CUDA: ad.CUDA{Device: d.ordinal}, CPU: cpu, Chosen: a.tellChoice}
	if d.anySize {
		auto.Least = -1
	}
	return auto
}

// toldChoices remembers what was said of the choice of a device.
type toldChoices struct {
	mu   sync.Mutex
	said map[string]bool
	gpu  string // GPU that some work was given to
}

// where returns what computed: "cpu", GPUs such as "cuda:0,1" that were demanded, or the GPU that auto gave work to, be it
// only a part.
func (a *app) where() string {
	switch {
	case a.chosen.cpu:
		return "cpu"
	case a.chosen.demanded:
		return a.chosen.String()
	}
	a.told.mu.Lock()
	defer a.told.mu.Unlock()
	return cmp.Or(a.told.gpu, "cpu")
}

// tellChoice says once where graphs are computed. That small ones stay on the processor, or that there is no
// GPU where nobody asked for one, is only of interest to someone who looks for it.
func (a *app) tellChoice(c ad.Choice) {
	level, text := "info", c.String()
	absent := errors.Is(c.Err, cuda.ErrNoDriver) || errors.Is(c.Err, cuda.ErrNoDevice)
	if c.Device == "cpu" && (c.Err == nil || absent && !a.chosen.anySize) {
		level = "debug"
	}
	text, _, _ = strings.Cut(text, "\n") // without the list of files that were tried
	text = strings.TrimSuffix(text, "; these were tried:")
	a.told.mu.Lock()
	defer a.told.mu.Unlock()
	if c.Device != "cpu" {
		a.told.gpu = c.Device
	}
	if key := c.Name + c.Device + level; !a.told.said[key] {
		a.told.said[key] = true
		a.log(level, "%s", text)
	}
}

// log prints a line for the user unless --log-level asks for more important ones only.
func (a *app) log(level, format string, args ...any) {
	levels := []string{"debug", "info", "warn", "error"}
	if slices.Index(levels, level) >= slices.Index(levels, cmp.Or(a.logLevel, "info")) {
		a.note(format, args...)
	}
}
