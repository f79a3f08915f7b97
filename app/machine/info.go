// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/dl"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// infoDoc is the JSON document of info.
type infoDoc struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	CPUs     int      `json:"cpus"`
	SIMD     string   `json:"simd"`
	Levels   []string `json:"simd_available"`
	Devices  []string `json:"devices"`
	CUDA     string   `json:"cuda"`

	Libraries []libraryDoc `json:"nvidia_libraries"`
}

// libraryDoc is what a search for one of NVIDIA's libraries came to.
type libraryDoc struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	Missing string `json:"missing,omitempty"` // why it cannot be used, with every place that was tried
	tried   string // the same in one line
}

// libraries looks for NVIDIA's libraries. One that is missing is looked for in many places, which the
// text counts and the JSON document lists.
func libraries() []libraryDoc {
	var all []libraryDoc
	for _, f := range cuda.FindLibraries() {
		l := libraryDoc{Name: f.Name, Version: f.Version, Path: f.Path}
		var none *dl.NotFound
		switch {
		case errors.As(f.Err, &none) && len(none.Tried) > 0:
			l.Missing = libraryText(f.Err)
			l.tried = fmt.Sprintf("not found in %s (--json lists them); set %s to its path", errtext.Count(len(none.Tried), "place"), f.Variable)
		case f.Err != nil:
			l.Missing = libraryText(f.Err)
			l.tried = l.Missing
		default:
			l.tried = fmt.Sprintf("%s, %s", f.Version, f.Path)
		}
		all = append(all, l)
	}
	return all
}

// gpuUse says whether commands can compute on GPUs, given the error of looking for them, and why not.
func gpuUse(err error) string {
	if err != nil {
		return libraryText(err)
	}
	c, err := rtc.Open(rtc.Settings{NoCache: true})
	if err != nil {
		return "GPUs cannot be used: " + libraryText(err)
	}
	major, minor := c.Version()
	return fmt.Sprintf("used with --device cuda, and with auto for large programs; NVRTC %d.%d, %s", major, minor, c.Path())
}

// libraryText says that a library is missing, where it was looked for, and how to say where it is.
func libraryText(err error) string {
	var none *dl.NotFound
	if !errors.As(err, &none) || len(none.Tried) == 0 {
		return exit.Text(err, nil)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the %s library was not found; set %s to its path. It was looked for in:", none.Name, dl.Variable(none.Name))
	for _, t := range none.Tried {
		fmt.Fprintf(&b, "\n\t%s: %s", t.Path, t.Reason)
	}
	return b.String()
}

// explain explains a file.
func explain(a *frame.App, name string) error {
	for _, f := range a.Fields {
		if f.Explained != nil && f.Explained(name) {
			return f.Explain(a, name)
		}
	}
	return exit.Usage("info %s: want a configuration file, whose name ends in .yaml, .yml or .json, or a program of the Stan language, which ends in .stan", name)
}

func infoCommand(a *frame.App) *cobra.Command {
	return &cobra.Command{
		Use:   "info [CONFIG.yaml]",
		Short: "Show the version and the devices, or explain a configuration file",
		Long: `Print the version, the processor's features, the devices and the libraries. For
a configuration file of homodyne, xpcsjax or heterodyne, print what fit twotime
and sample twotime make of it, and what is wrong with it.

  euryale info
  euryale info flow.yaml
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return explain(a, args[0])
			}
			d := infoDoc{Version: frame.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
				SIMD: kernels.Best().String(), Devices: []string{"cpu"}}
			gpus, err := cuda.Devices()
			d.CUDA = gpuUse(err)
			for _, g := range gpus {
				d.Devices = append(d.Devices, fmt.Sprintf("cuda:%d %s, %.1f GB, compute capability %d.%d, driver %d.%d", g.Ordinal, g.Name, float64(g.MemoryBytes)/1e9,
					g.Capability[0], g.Capability[1], g.DriverVersion/1000, g.DriverVersion%1000/10))
			}
			for _, l := range kernels.Levels() {
				d.Levels = append(d.Levels, l.String())
			}
			d.Libraries = libraries()
			if a.JSON {
				return a.Document(d)
			}
			var lines []string
			for _, l := range d.Libraries {
				lines = append(lines, fmt.Sprintf("%-9s%s", l.Name, l.tried))
			}
			_, err = fmt.Fprintf(a.Stdout, "euryale %s, %s on %s, %d processors\nSIMD     %s (available: %v; EURYALE_SIMD lowers it)\ndevices  %s\nCUDA     %s\n%s\n",
				d.Version, d.Go, d.Platform, d.CPUs, d.SIMD, d.Levels, strings.Join(d.Devices, "\n         "), d.CUDA, strings.Join(lines, "\n"))
			return exit.With(exit.CannotWrite, err)
		},
	}
}
