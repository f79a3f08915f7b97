package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/memory"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// deviceVariable names the device where --device does not.
const deviceVariable = "EURYALE_DEVICE"

// worthwhile is the size in bytes of the arrays of a log density from which on --device auto takes a GPU:
// sending parameters, launching and fetching the gradient takes some 50 us, in which one core passes
// over about as much. It is reasoned, not measured.
const worthwhile = 8 << 20

// deviceName matches a device.
var deviceName = regexp.MustCompile(`^(auto|cpu|cuda(:[0-9]{1,4})?)$`)

// onDevice marks a command that can compute on a GPU.
func onDevice(c *cobra.Command) *cobra.Command {
	all := map[string]string{"device": "yes"}
	maps.Copy(all, c.Annotations)
	c.Annotations = all
	return c
}

// checkDevice reads --device and the environment.
func (a *app) checkDevice(c *cobra.Command) error {
	by := "--device"
	asked := a.device
	if asked == "" {
		by, asked = deviceVariable, os.Getenv(deviceVariable)
	}
	if a.device = cmp.Or(asked, "auto"); !deviceName.MatchString(a.device) {
		return usage("%s %s: want auto, cpu, cuda or cuda:N, such as cuda:0", by, strconv.Quote(asked))
	}
	if strings.HasPrefix(a.device, "cuda") && c.Annotations["device"] == "" {
		if by == "--device" {
			return &exitError{code: exitNoDevice, err: fmt.Errorf("%s computes on the processor, not on %s: the commands of sample use a GPU, the others do not yet", c.CommandPath(), a.device), hint: "--device cpu"}
		}
		if c.Annotations["folder"] != "" {
			a.note("%s computes on the processor, not on %s=%s", c.CommandPath(), by, a.device)
		}
	}
	return nil
}

// ordinal returns the number of a GPU.
func ordinal(device string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(device, "cuda"), ":"))
	return n
}

// compile makes the posterior of a model for the device that the user asked for, or that an earlier part
// of the run recorded, and returns the device.
func (a *app) compile(m *infer.Model, recorded string) (*infer.Posterior, string, error) {
	post, err := m.Compile()
	if err != nil {
		return nil, "", err
	}
	want := a.device
	if want == "auto" && recorded != "" {
		want = recorded
	}
	switch {
	case want == "cpu":
		return post, want, nil
	case want == "auto":
		return a.automatic(m, post)
	}
	want = fmt.Sprintf("cuda:%d", ordinal(want))
	onGPU, err := m.CompileOn(ad.CUDA{Device: ordinal(want)})
	if err != nil {
		return nil, "", &exitError{code: exitNoDevice, err: fmt.Errorf("%s cannot be used: %w", want, err), hint: "euryale info, which lists devices and where libraries were looked for; or --device cpu"}
	}
	a.tellHosted(onGPU)
	return onGPU, want, nil
}

// tellHosted names the operations that stay on the processor.
func (a *app) tellHosted(p *infer.Posterior) {
	if hosted := p.OnProcessor(); len(hosted) > 0 {
		a.note("without a kernel for the GPU, and so computed on the processor with copies in between: %s", strings.Join(hosted, ", "))
	}
}

// automatic takes the first GPU for large posteriors, if there is one.
func (a *app) automatic(m *infer.Model, post *infer.Posterior) (*infer.Posterior, string, error) {
	if post.Bytes() < worthwhile {
		return post, "cpu", nil
	}
	onGPU, err := m.CompileOn(ad.CUDA{})
	if err == nil {
		a.tellHosted(onGPU)
		a.note("the log density takes %s: computing on cuda:0 (--device cpu computes on the processor)", memory.Text(int64(post.Bytes())))
		return onGPU, "cuda:0", nil
	}
	a.note("computing on the processor: %s", firstLine(err))
	return post, "cpu", nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// deviceFailed explains the failure of a GPU in a run that can go on from its checkpoint. The processor
// does not take over unasked.
func (a *app) deviceFailed(e *exitError) {
	if errors.Is(e.err, cuda.ErrDeviceLost) || errors.Is(e.err, cuda.ErrOutOfMemory) {
		e.hint = a.again + " --device cpu, which goes on from the last checkpoint on the processor, or without the flag on the GPU once it is well"
	}
}
