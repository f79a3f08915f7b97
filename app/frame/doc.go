// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package frame is what all commands share: the state of one call with its global flags and output, the verbs and the fields that
// register commands below them, run folders and how they are resumed, devices, verdicts, JSON documents and pictures.
package frame
