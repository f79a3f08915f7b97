// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

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

	"github.com/euryale-dev/euryale/app/exit"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// DeviceChoice says where the user wants graphs to be computed.
type DeviceChoice struct {
	Demanded bool   // a GPU, or an error
	AnySize  bool   // a GPU for programs of every size, or the processor where there is none
	CPU      bool   // the processor
	Ordinal  int    // number of the GPU, of the first of several
	Several  string // numbers of several GPUs, such as "0,1", or "all"; "" for one
	By       string // flag or variable that made the choice, "" for the default
}

// String returns the value of --device that makes this choice.
func (d DeviceChoice) String() string {
	switch {
	case d.CPU:
		return "cpu"
	case d.Several != "":
		return "cuda:" + d.Several
	case d.Demanded:
		return fmt.Sprintf("cuda:%d", d.Ordinal)
	}
	return "auto"
}

// gpus returns the numbers of the GPUs.
func (d DeviceChoice) gpus() []int {
	if d.Several == "" {
		return []int{d.Ordinal}
	}
	var list []int
	for text := range strings.SplitSeq(d.Several, ",") {
		n, _ := strconv.Atoi(text)
		list = append(list, n)
	}
	return list
}

// parseDevice reads a value of --device.
func parseDevice(text string) (DeviceChoice, bool) {
	switch text {
	case "auto":
		return DeviceChoice{}, true
	case "cpu":
		return DeviceChoice{CPU: true}, true
	case "cuda":
		return DeviceChoice{Demanded: true}, true
	}
	numbers, ok := strings.CutPrefix(strings.ReplaceAll(text, ",cuda:", ","), "cuda:") // results name each device whole
	d := DeviceChoice{Demanded: true}
	if numbers == "all" {
		d.Several = "all"
		return d, ok
	}
	list := strings.Split(numbers, ",")
	for i, number := range list {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= 1<<16 || strconv.Itoa(n) != number || slices.Contains(list[:i], number) {
			return d, false
		}
		if i == 0 {
			d.Ordinal = n
		}
	}
	if len(list) > 1 {
		d.Several = numbers
	}
	return d, ok
}

// ChooseDevice resolves the choice of a device: by the flag, then by EURYALE_DEVICE, then by the
// variables of xpcs-toolkit, then auto.
func ChooseDevice(flag string, given bool, env func(string) string) (DeviceChoice, error) {
	for _, at := range []struct{ name, NumberText string }{{"--device", flag}, {"EURYALE_DEVICE", env("EURYALE_DEVICE")}} {
		if at.name == "--device" && !given || at.NumberText == "" && at.name != "--device" {
			continue
		}
		d, ok := parseDevice(at.NumberText)
		if !ok {
			return d, exit.Usage("%s %q: want auto, cpu, cuda, cuda:N (one GPU), cuda:N,M (several) or cuda:all", at.name, at.NumberText)
		}
		d.By = at.name
		return d, nil
	}
	return chooseAsToolkit(env)
}

// chooseAsToolkit follows XPCS_USE_GPU and XPCS_GPU_FALLBACK.
func chooseAsToolkit(env func(string) string) (DeviceChoice, error) {
	var err error
	word := func(name string, otherwise bool) bool {
		switch text := strings.ToLower(env(name)); {
		case text == "":
			return otherwise
		case slices.Contains([]string{"true", "1", "yes", "on"}, text):
			return true
		case !slices.Contains([]string{"false", "0", "no", "off"}, text):
			err = errors.Join(err, exit.Usage("%s=%q: want true, 1, yes or on, or else false, 0, no or off", name, env(name)))
		}
		return false
	}
	if text := env("XPCS_GPU_MEMORY_FRACTION"); text != "" {
		if v, fail := strconv.ParseFloat(text, 64); fail != nil || !(v > 0 && v <= 1) {
			err = exit.Usage("XPCS_GPU_MEMORY_FRACTION=%q: want a number above 0 and at most 1; it has no other effect, as memory is allocated on demand", text)
		}
	}
	asked := env("XPCS_USE_GPU") != ""
	gpu, fallback := word("XPCS_USE_GPU", false), word("XPCS_GPU_FALLBACK", true)
	switch {
	case err != nil || !asked:
		return DeviceChoice{}, err
	case !gpu:
		return DeviceChoice{CPU: true, By: "XPCS_USE_GPU"}, nil
	}
	return DeviceChoice{Demanded: !fallback, AnySize: fallback, By: "XPCS_USE_GPU"}, nil
}

func annotated(c *cobra.Command, key, value string) *cobra.Command {
	all := map[string]string{key: value}
	maps.Copy(all, c.Annotations)
	c.Annotations = all
	return c
}

// checkDevice resolves the choice for a command, and opens a GPU that is demanded, so that its
// absence is known before anything is read or written.
func (a *App) checkDevice(c *cobra.Command) error {
	d, err := ChooseDevice(a.device, c.Flags().Changed("device"), os.Getenv)
	if err != nil {
		return err
	}
	kind := c.Annotations["device"]
	switch {
	case kind != "graphs" && d.Demanded && d.By == "--device":
		return exit.Usage("%s runs on the CPU only: leave out --device %s", c.CommandPath(), a.device)
	case kind == "processor" && (d.Demanded || d.AnySize):
		a.Log("info", "%s computes on the processor, whatever %s says", c.CommandPath(), d.By)
	}
	if kind != "graphs" {
		d = DeviceChoice{CPU: true}
	}
	a.Chosen = d
	return a.Demand()
}

// Demand opens the GPU, if one is demanded, with its compiler.
func (a *App) Demand() error {
	if !a.Chosen.Demanded {
		return nil
	}
	if err := a.openChosen(); err != nil {
		return &exit.Error{Code: exit.NoDevice, Err: fmt.Errorf("%s, selected by %s, cannot be used: %w", a.Chosen, a.Chosen.By, err), Hint: "--device cpu"}
	}
	return nil
}

// openChosen opens the chosen GPUs, each with its compiler.
func (a *App) openChosen() error {
	if a.Chosen.Several == "all" {
		all, err := cuda.Devices()
		if err != nil {
			return err
		}
		var list []string
		for i := range all {
			list = append(list, strconv.Itoa(i))
		}
		if a.Chosen.Several = strings.Join(list, ","); len(list) == 1 {
			a.Chosen.Several = ""
		}
	}
	for _, n := range a.Chosen.gpus() {
		g, err := cuda.Open(n, cuda.Settings{})
		if err == nil {
			_, err = g.Compiler()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// GoOnWhere continues a run on the device that has computed it so far, unless the user chose one
// now: only there do the rest of the draws have the same bits.
func (a *App) GoOnWhere(recorded string) error {
	if recorded == "" { // a run of a version that knew only the processor
		recorded = "cpu"
	}
	if a.Chosen.By != "" {
		if now := a.Chosen.String(); now != "auto" && now != recorded {
			a.Note("the run was computed on %s and continues on %s, so it agrees with an uninterrupted run only within rounding errors", recorded, now)
		}
		return nil
	}
	d, ok := parseDevice(recorded)
	if !ok {
		return exit.With(exit.Config, fmt.Errorf("the run was recorded with the device %q: want cpu, cuda:N or auto", recorded))
	}
	d.By = "the run folder"
	a.Chosen = d
	return a.Demand()
}

// Backend returns what computes graphs; the processor uses so many threads for each (0 for all).
func (a *App) Backend(threads int) ad.Backend {
	d, cpu := a.Chosen, ad.CPU{Threads: threads}
	switch {
	case d.CPU:
		return cpu
	case d.Several != "":
		var all ad.Several
		for _, n := range d.gpus() {
			all = append(all, ad.CUDA{Device: n})
		}
		return all
	case d.Demanded:
		return ad.CUDA{Device: d.Ordinal}
	}
	auto := ad.Auto{CUDA: ad.CUDA{Device: d.Ordinal}, CPU: cpu, Chosen: a.TellChoice}
	if d.AnySize {
		auto.Least = -1
	}
	return auto
}

// ToldChoices remembers what was said of the choice of a device.
type ToldChoices struct {
	mu   sync.Mutex
	Said map[string]bool
	gpu  string // GPU that some work was given to
}

// Where returns what computed: "cpu", GPUs such as "cuda:0,1" that were demanded, or the GPU that auto gave work to, be it
// only a part.
func (a *App) Where() string {
	switch {
	case a.Chosen.CPU:
		return "cpu"
	case a.Chosen.Demanded:
		return a.Chosen.String()
	}
	a.Told.mu.Lock()
	defer a.Told.mu.Unlock()
	return cmp.Or(a.Told.gpu, "cpu")
}

// TellChoice says once where graphs are computed. That small ones stay on the processor, or that there is no
// GPU where nobody asked for one, is only of interest to someone who looks for it.
func (a *App) TellChoice(c ad.Choice) {
	level, text := "info", c.String()
	absent := errors.Is(c.Err, cuda.ErrNoDriver) || errors.Is(c.Err, cuda.ErrNoDevice)
	if c.Device == "cpu" && (c.Err == nil || absent && !a.Chosen.AnySize) {
		level = "debug"
	}
	text, _, _ = strings.Cut(text, "\n") // without the list of files that were tried
	text = strings.TrimSuffix(text, "; these were tried:")
	a.Told.mu.Lock()
	defer a.Told.mu.Unlock()
	if c.Device != "cpu" {
		a.Told.gpu = c.Device
	}
	if key := c.Name + c.Device + level; !a.Told.Said[key] {
		a.Told.Said[key] = true
		a.Log(level, "%s", text)
	}
}

// Log prints a line for the user unless --log-level asks for more important ones only.
func (a *App) Log(level, format string, args ...any) {
	levels := []string{"debug", "info", "warn", "error"}
	if slices.Index(levels, level) >= slices.Index(levels, cmp.Or(a.LogLevel, "info")) {
		a.Note(format, args...)
	}
}
