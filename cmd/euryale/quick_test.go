//go:build !slow

package main

const slowTests = false
