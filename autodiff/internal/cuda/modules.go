// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"github.com/euryale-dev/euryale/internal/parallel"
	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// moduleText is the bytes of kernels after which a new module begins: modules are compiled side by
// side, and each has the text of all helper functions again.
const moduleText = 48 << 10

// kernelStart begins every kernel of a program.
const kernelStart = `extern "C" __global__`

// kernelName matches the declaration of a kernel.
var kernelName = regexp.MustCompile(`__launch_bounds__\([\d, ]+\) (\w+)\(`)

// modules cuts the text of a program into texts that are compiled each for itself.
func modules(text string) []string {
	parts := strings.Split(text, kernelStart)
	head := parts[0]
	var list []string
	var b strings.Builder
	for i, k := range parts[1:] {
		if b.Len() == 0 {
			b.WriteString(head)
		}
		b.WriteString(kernelStart + k)
		if b.Len() > len(head)+moduleText || i == len(parts)-2 {
			list = append(list, b.String())
			b.Reset()
		}
	}
	return list
}

// load compiles the kernels of a program and returns how to find one.
func load(d *device.Device, text string) (find func(name string) (*device.Function, error), err error) {
	texts := modules(text)
	loaded, faults := make([]*device.Module, len(texts)), make([]error, len(texts))
	parallel.Do(runtime.GOMAXPROCS(0), len(texts), func(_, i int) {
		name := "program.cu"
		if len(texts) > 1 {
			name = fmt.Sprintf("program%d.cu", i+1)
		}
		loaded[i], faults[i] = d.Compile(rtc.Source{Name: name, Text: texts[i]})
	})
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	module := map[string]*device.Module{}
	for i, t := range texts {
		for _, m := range kernelName.FindAllStringSubmatch(t, -1) {
			module[m[1]] = loaded[i]
		}
	}
	return func(name string) (*device.Function, error) { return module[name].Function(name) }, nil
}
