// Package screen knows what may be put on a terminal: which characters are safe,
// how wide a text is, where a long one is cut or folded, and when a table does
// not fit and a list is drawn in its place (O8). Names, inputs and outputs come
// from models, tools and files, so that nothing of them reaches a terminal
// without passing here.
package screen
