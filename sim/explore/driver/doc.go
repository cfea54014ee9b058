// Package driver runs one client's code apart from any world, and finds out what it does
// next after each thing that it may observe: it is the search's host of package process.
package driver
