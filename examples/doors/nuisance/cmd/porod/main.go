// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command porod is euryale with the nuisance of this module.
package main

import (
	"os"

	_ "example.org/nuisance" // registers the nuisance
	"github.com/euryale-dev/euryale/cli"
)

func main() { os.Exit(cli.Main()) }
