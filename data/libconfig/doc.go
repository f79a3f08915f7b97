// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package libconfig reads configuration files in the syntax of the C library
// libconfig.
//
// A Value is a setting and what is below it: a number, a truth value, text, an
// array, a list or a group. It knows where in the file it stands, and so do
// the errors of its getters.
//
//	root, err := libconfig.Open("config.txt")
//	if err != nil { ... }                       // names file, line and column
//	for _, v := range root.Items {
//		fmt.Println(v.Name, v.Kind, v.Line)     // Energies array 2
//	}
//	e, err := root.Lookup("Energies")
//	if err != nil { ... }                       // names the setting like it
//	energies, err := e.Float64s()               // whole numbers are fine
//	kz, err := root.Lookup("beams.[0].k.[2]")
//
// The syntax: `name = value` or `name : value`, then `;`, `,` or nothing;
// comments after # and //, and between /* and */; [arrays] of one kind of
// scalar, (lists) of anything, {groups} of settings; whole numbers in decimal,
// 0x, 0b or 0o with L or LL behind them or not; true and false in any case;
// "text" with the escapes \\ \" \a \b \f \n \r \t \v and \x41, pieces beside
// each other being one. Looser than the C library: a comma may follow the last
// element, and whole numbers may stand among the fractions of an array.
// @include is refused.
//
// A file of more than 16 MiB, a million values or 64 levels is an error.
package libconfig
