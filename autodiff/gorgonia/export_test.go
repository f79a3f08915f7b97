// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

// What the tests of graphs read of a node.
var (
	Arguments = children
	ReadValue = readValue
	MakeValue = makeValue
)
