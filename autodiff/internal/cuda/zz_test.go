package cuda_test

import (
	"os"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

func TestZZ(t *testing.T) {
	c := realCompiler(t)
	pretend.Shared(t)
	for _, bits := range []int{32, 64} {
		for name, f := range map[string]func() []*ad.Node{
			"sort": func() []*ad.Node {
				x := ad.Input("x", 1_000_000)
				y := ad.Input("y", 4, 5000)
				z := ad.Input("z", 200, 1024)
				return []*ad.Node{ad.Argsort(x, 0, true), ad.Argsort(y, 1, false), ad.Argsort(z, 1, false)}
			},
			"cumsum":  func() []*ad.Node { return []*ad.Node{ad.Cumsum(ad.Input("x", 10_000_000), 0)} },
			"linear":  func() []*ad.Node { return []*ad.Node{ad.LinearScan(ad.Input("a", 10_000_000), ad.Input("x", 10_000_000), nil, 0, false)} },
			"logsum":  func() []*ad.Node { return []*ad.Node{ad.LogCumsumExp(ad.Input("x", 10_000_000), 0)} },
			"cummax":  func() []*ad.Node { return []*ad.Node{ad.Cummax(ad.Input("x", 10_000_000), 0)} },
			"cumprod": func() []*ad.Node { return []*ad.Node{ad.Cumprod(ad.Input("x", 10_000_000), 0)} },
		} {
			p, err := ad.Compile(f(), ad.Settings{Precision: bits, Backend: ad.CUDA{}})
			if err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(p.Explain(), "\nkernels\n")
			image, err := c.CompilePTX(rtc.Source{Name: "program.cu", Text: text}, rtc.Target{Major: 9})
			if err != nil {
				t.Fatal(err)
			}
			if image.Log != "" {
				t.Error(image.Log)
			}
			os.WriteFile("/tmp/ptx_"+name+map[int]string{32: "32", 64: "64"}[bits]+".ptx", image.Data, 0o644)
			os.WriteFile("/tmp/text_"+name+map[int]string{32: "32", 64: "64"}[bits]+".cu", []byte(text), 0o644)
		}
	}
}
