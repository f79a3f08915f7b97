//go:build race

package drv

// raceDetector is set where the race detector makes sync.Pool forget things on purpose.
const raceDetector = true
