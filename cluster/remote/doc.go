// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package remote copies files from object stores and results to them.
//
// A location is given as a URL: s3://bucket/prefix, azblob://container/prefix, file:///folder, and with
// the build tag gs also gs://bucket/prefix. Parameters after a question mark are passed to the store,
// as in s3://bucket/prefix?region=eu-central-1, or
// ?endpoint=http://host:9000&use_path_style=true&region=any for a server that speaks like S3.
// Credentials are taken from the environment variables and files that the client library of each store
// uses.
package remote
