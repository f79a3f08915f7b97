// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command plummer is euryale with the function of this module in formulas.
package main

import (
	"os"

	_ "example.org/kernel" // registers the function
	"github.com/euryale-dev/euryale/cli"
)

func main() { os.Exit(cli.Main()) }
