package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// version returns the module's version, or the commit of a local build.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok || b.Main.Version == "" {
		return "devel"
	}
	return b.Main.Version
}

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
}

func (a *app) info() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Version, processor features and devices",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d := infoDoc{Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
				SIMD: kernels.Best().String(), Devices: []string{"cpu"}}
			gpus, err := cuda.Devices()
			if err != nil {
				d.CUDA = err.Error()
			} else {
				d.CUDA = "taken by --device cuda, and by auto for large programs"
			}
			for _, g := range gpus {
				d.Devices = append(d.Devices, fmt.Sprintf("cuda:%d %s, %.1f GB, compute capability %d.%d, driver %d.%d", g.Ordinal, g.Name, float64(g.MemoryBytes)/1e9,
					g.Capability[0], g.Capability[1], g.DriverVersion/1000, g.DriverVersion%1000/10))
			}
			for _, l := range kernels.Levels() {
				d.Levels = append(d.Levels, l.String())
			}
			if a.json {
				return a.document(d)
			}
			_, err = fmt.Fprintf(a.stdout, "euryale %s, %s on %s, %d processors\nSIMD     %s (available: %v; EURYALE_SIMD lowers it)\ndevices  %s\nCUDA     %s\n",
				d.Version, d.Go, d.Platform, d.CPUs, d.SIMD, d.Levels, strings.Join(d.Devices, "\n         "), d.CUDA)
			return as(exitCannotWrite, err)
		},
	}
}
