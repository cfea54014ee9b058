//go:build race

package explore

// raceDetector makes everything about ten times as slow.
const raceDetector = true
