// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

// What tests outside the package take from it.
type ToldChoices = toldChoices

var ChooseDevice = chooseDevice
