// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

// What tests outside the package take from it.
type CatalogueDoc = catalogueDoc
type DesiDoc = desiDoc
type NetworkDoc = networkDoc
type SpectraDoc = spectraDoc
type StarDoc = starDoc
type StarPosteriorDoc = starPosteriorDoc

var MakeStars = makeStars
