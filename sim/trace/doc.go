// Package trace is what a run leaves behind: its events, the state that they add up
// to, what was said of them, and how all that is printed.
//
// A [Trace] is the complete list of a run's [Event] values, in their one total order.
// A [State] is a fold over them and knows nothing else, so whatever looks at a State,
// a monitor, a printer, the terminal interface, can show only what is in the trace.
// Text and JSON are views of it; so are the timeline and the exports.
//
// The package knows no world, no server and no client code: a trace that was read
// back or made by hand is as good as one that was just recorded.
package trace
