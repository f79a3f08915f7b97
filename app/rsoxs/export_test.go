// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

// What tests outside the package take from it.
const LogName = logName

type ReduceDoc = reduceDoc

var DropEmpty = dropEmpty
