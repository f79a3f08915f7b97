// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command tabulated is euryale with the format of template libraries of this module.
package main

import (
	"os"

	_ "example.org/library" // registers the format
	"github.com/euryale-dev/euryale/cli"
)

func main() { os.Exit(cli.Main()) }
