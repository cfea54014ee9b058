// Package trace is the record of a run: its events, the state that they add up to, the notes
// and violations, and their forms as text and JSON.
//
// A [Trace] is the complete list of a run's [Event] values, in their one total order. A
// [State] is a fold over them and knows nothing else, so a monitor, a printer or the terminal
// interface that reads a State can show only facts of the trace. Text and JSON are views
// of the trace; so are the timeline and the exports.
//
// The package knows no world, no server and no client code: a trace that was read back or
// made by hand is as good as one that was just recorded.
package trace
