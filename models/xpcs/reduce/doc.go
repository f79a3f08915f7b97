// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package reduce reduces the intensities that a correlator leaves besides g2: against q, azimuth
// and time.
//
// A [Profile] is intensity against q, from which a background can be taken and which can be scaled; [Wedge] and [Ring] average
// an image of the detector over sectors and rings; [Smooth] and [Spectrum] look at intensity against time; and a
// few functions rescale g2 with its errors.
//
//	w, err := reduce.Wedge(image, q, phi, mask, reduce.Sector{From: -30, To: 30, Edges: edges})
//	if err != nil { ... }
//	fmt.Println(w.X[0], w.Mean[0], w.Pixels[0])
package reduce
