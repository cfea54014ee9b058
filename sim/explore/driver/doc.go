// Package driver runs one client's code outside of any world, and finds out its next
// operation after each observation. Besides sim.World it is the other host of package
// process.
package driver
