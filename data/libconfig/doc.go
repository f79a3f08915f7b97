// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package libconfig reads configuration files in the syntax of the C library
// libconfig.
//
// A Value is a setting with everything below it: a number, a truth value, text, an array, a list or a
// group. It knows its position in the file, which the errors of its methods report.
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
// A setting is `name = value` or `name : value`, followed by `;`, `,` or nothing. Comments follow # and
// //, or stand between /* and */. There are [arrays] of one kind of scalar, (lists) of anything, and
// {groups} of settings. Whole numbers are decimal or begin with 0x, 0b or 0o, and may end in L or LL;
// true and false are written in any case; "text" has the escapes \\ \" \a \b \f \n \r \t \v and \x41,
// and adjacent pieces of text are joined. Two things are allowed that the C library refuses: a comma
// after the last element, and whole numbers among the fractions of an array. @include is an error.
//
// A file of more than 16 MiB, a million values or 64 levels is an error.
package libconfig
