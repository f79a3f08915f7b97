package correlate

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// NVIDIA's compiler takes the kernels of correlations without warnings. It needs no GPU: a toolkit, or the wheel nvidia-cuda-nvrtc-cu12 in
// .peers or the active environment.
func TestRealCompilerTakesCorrelations(t *testing.T) {
	if os.Getenv("VIRTUAL_ENV") == "" {
		if peers, err := filepath.Abs("../../../.peers"); err == nil {
			t.Setenv("VIRTUAL_ENV", peers)
		}
	}
	c, err := rtc.Open(rtc.Options{NoCache: true})
	if err != nil {
		t.Skip("lacks NVRTC (pip install nvidia-cuda-nvrtc-cu12, or EURYALE_LIBNVRTC)")
	}
	for _, bits := range []int{32, 64} {
		for _, per := range []int{1, 4} {
			image, err := c.CompilePTX(source(bits, per), rtc.Target{Major: 9})
			if err != nil {
				t.Fatal(err)
			}
			if image.Log != "" {
				t.Errorf("float%d: %s", bits, image.Log)
			}
			if folder := os.Getenv("EURYALE_KEEP_PTX"); folder != "" { // to look at registers with ptxas
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("correlate_%d_%d.ptx", bits, per)), image.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
