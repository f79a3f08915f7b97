// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// kernelName is what notebooks call the kernel.
const kernelName = "euryale"

// installSpec describes the kernel to Jupyter, in one of its data folders.
func installSpec(data, kernel string) error {
	spec, err := json.MarshalIndent(map[string]any{
		"argv": []string{kernel, "{connection_file}"}, "display_name": "Go (Euryale)", "language": "go", "name": kernelName,
		"interrupt_mode": "signal",
	}, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Join(data, "kernels", kernelName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, "kernel.json")
	if err := os.WriteFile(name, append(spec, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s describes it to Jupyter; rm -r %q removes it\n", name, dir)
	return nil
}
