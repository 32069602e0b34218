// Package render describes what is shown of a conversation, without a screen: nodes are
// plain values that say what a thing is (code of a language, a change, a list, a place in
// a file), and writers turn the same nodes into text of a terminal or into HTML (M1).
//
// Texts in nodes come from models, tools and files and are kept as they are. A writer has
// to make each harmless with Safe before it shows it (M3); no node holds escape sequences
// or markup of its own.
package render
