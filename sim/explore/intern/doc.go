// Package intern holds the tables that the workers of a search share: a [Memo] keeps a
// value for each key, a [Table] gives equal values equal ids, [Chunks] is the list behind
// both, and [Visited] is the visited set. Reads take no lock, and an addition takes one. A
// table that is [Kept] can be written down, for another process to give values the same ids.
package intern
