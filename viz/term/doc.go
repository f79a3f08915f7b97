// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package term shows the progress of long runs on a terminal.
//
// A Meter shows the chains of a sampler, a Bar the items of a batch. On a
// terminal they redraw themselves in place; in a file or a pipe they write a
// line every tenth of the way. They obey NO_COLOR and TERM=dumb, and a slow or
// stopped terminal never holds up the work.
//
//	meter := term.NewMeter(os.Stderr, term.MeterSettings{})
//	fit, err := infer.Sample(ctx, model, infer.Settings{Progress: meter.Update})
//	meter.Close()
package term
