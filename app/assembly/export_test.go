// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import "time"

// What tests outside the package take from it.
type AssemblyConfig = assemblyConfig
type AssemblyDoc = assemblyDoc
type TrainDoc = trainDoc

var ReadAssemblyResult = readAssemblyResult
var StartAssembly = startAssembly

// SetLiveEvery sets the time between the tables of a run that goes on, and returns what undoes that.
func SetLiveEvery(d time.Duration) func() {
	old := liveEvery
	liveEvery = d
	return func() { liveEvery = old }
}
