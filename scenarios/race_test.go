//go:build race

package scenarios

// raceDetector makes everything about ten times as slow.
const raceDetector = true
