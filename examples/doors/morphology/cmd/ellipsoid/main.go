// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command ellipsoid is euryale with the morphology of this module.
package main

import (
	"os"

	_ "example.org/morphology" // registers the model
	"github.com/euryale-dev/euryale/cli"
)

func main() { os.Exit(cli.Main()) }
