//go:build slow

package main

const slowTests = true
