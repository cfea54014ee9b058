//go:build race

package sim

// raceDetector makes everything about ten times as slow.
const raceDetector = true
