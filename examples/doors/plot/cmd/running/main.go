// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command running is euryale with the picture of this module.
package main

import (
	"os"

	_ "example.org/plot" // registers the picture
	"github.com/euryale-dev/euryale/cli"
)

func main() { os.Exit(cli.Main()) }
