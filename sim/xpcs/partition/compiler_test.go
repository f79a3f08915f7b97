package partition

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// NVIDIA's compiler takes the kernels of partitions without warnings. It needs no GPU: a toolkit, or the wheel nvidia-cuda-nvrtc-cu12 in
// .peers or the active environment.
func TestRealCompilerTakesPartitions(t *testing.T) {
	if os.Getenv("VIRTUAL_ENV") == "" {
		if peers, err := filepath.Abs("../../../.peers"); err == nil {
			t.Setenv("VIRTUAL_ENV", peers)
		}
	}
	c, err := rtc.Open(rtc.Options{NoCache: true})
	if err != nil {
		t.Skip("lacks NVRTC (pip install nvidia-cuda-nvrtc-cu12, or EURYALE_LIBNVRTC)")
	}
	image, err := c.CompilePTX(rtc.Source{Name: "partition.cu", Text: kernelText}, rtc.Target{Major: 9})
	if err != nil {
		t.Fatal(err)
	}
	if image.Log != "" {
		t.Error(image.Log)
	}
}
