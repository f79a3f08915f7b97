package transport

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// NVIDIA's compiler takes the kernels of every model without warnings. It needs no GPU: a toolkit, or the wheel nvidia-cuda-nvrtc-cu12 in
// .peers or the active environment.
func TestRealCompilerTakesPairs(t *testing.T) {
	if os.Getenv("VIRTUAL_ENV") == "" {
		if peers, err := filepath.Abs("../../../.peers"); err == nil {
			t.Setenv("VIRTUAL_ENV", peers)
		}
	}
	c, err := rtc.Open(rtc.Options{NoCache: true})
	if err != nil {
		t.Skip("lacks NVRTC (pip install nvidia-cuda-nvrtc-cu12, or EURYALE_LIBNVRTC)")
	}
	for _, m := range []Model{Static, Laminar, TwoComponent} {
		for _, customary := range []bool{false, true} {
			s := shearSetup(1, 3)
			s.Model, s.Customary = m, customary
			text := s.pairText()
			for number, weighted := range map[string]bool{"double": false, "float": true} {
				source := rtc.Source{Name: "pairs.cu", Text: text.text(s.frameOutputs(), number, weighted)}
				image, err := c.CompilePTX(source, rtc.Target{Major: 9})
				if err != nil {
					t.Fatal(err)
				}
				if image.Log != "" {
					t.Errorf("%s, customary %v: %s", m, customary, image.Log)
				}
				if folder := os.Getenv("EURYALE_KEEP_PTX"); folder != "" { // to look at registers with ptxas
					if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("pairs_%s_%v_%s.ptx", m, customary, number)), image.Data, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}
