// Package freshet holds the words of Freshet and its decisions: what a source, a cursor, a poll's
// outcome, a post, an item and a place in the river are, when a source is due, what is new and
// which item a post belongs to (SPEC.md sections 1, 2, 5).
//
// Everything here is a value or a pure function: no I/O, no clock (now is an argument), no
// randomness (S4's random number is an argument). The packages in internal/ act; they ask here.
package freshet
