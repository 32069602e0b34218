// Package property holds what must be true of the project whatever the input: the
// direction of its imports, and properties of the system as a whole.
package property
