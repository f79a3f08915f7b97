// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

// What tests outside the package take from it.
type AssemblyConfig = assemblyConfig
type AssemblyDoc = assemblyDoc
type TrainDoc = trainDoc

var ReadAssemblyResult = readAssemblyResult
var StartAssembly = startAssembly
