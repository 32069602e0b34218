// Package toolsys is what a program imports of the tool system: New wires the catalogue,
// the background tasks and the way results too large are kept, and a System opens
// conversations. A program that only wants the tools of its own trade gives them
// as Config.Tools; see the example.
package toolsys
