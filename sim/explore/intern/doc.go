// Package intern keeps what a search knows in tables that its workers share without
// locks: a [Memo] remembers a value for each key, a [Table] gives equal values equal
// ids, and [Visited] is the set of states, which consist of such ids.
package intern
