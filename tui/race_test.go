//go:build race

package tui

// raceDetector: every access to memory is watched, and everything takes longer.
const raceDetector = true
