// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app

import "os"

// ends lists no signals: a page ends a run by ending the program.
func ends() []os.Signal { return []os.Signal{os.Interrupt} }
