package batch

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// NVIDIA's compiler takes the kernels without warnings, for few and for many parameters. It needs no GPU: a toolkit, or
// the wheel nvidia-cuda-nvrtc-cu12 in .peers or the active environment.
func TestRealCompilerTakesLanes(t *testing.T) {
	if os.Getenv("VIRTUAL_ENV") == "" {
		if peers, err := filepath.Abs("../../../.peers"); err == nil {
			t.Setenv("VIRTUAL_ENV", peers)
		}
	}
	c, err := rtc.Open(rtc.Options{NoCache: true})
	if err != nil {
		t.Skip("lacks NVRTC (pip install nvidia-cuda-nvrtc-cu12, or EURYALE_LIBNVRTC)")
	}
	for robust, n := range []int{4, 9} {
		head := fmt.Sprintf("#define N %d\n#define M 64\n#define L 4096\n#define S 128\n#define ROBUST %d\n#define BOUNDED %d\n", n, robust, 1-robust)
		image, err := c.Compile(rtc.Source{Name: "lanes.cu", Text: head + lanesText}, rtc.Target{Major: 9})
		if err != nil {
			t.Fatal(err)
		}
		if image.Log != "" {
			t.Errorf("%d parameters: %s", n, image.Log)
		}
	}
}
