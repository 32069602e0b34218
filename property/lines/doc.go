// Package lines writes the YAML of random scenarios, a line at a time: what a mix and a
// scene print for people and for `toolbench run` (O6).
//
// It knows nothing of scenarios. What it does not do: it quotes nothing by itself; a text
// that may hold anything goes through Quoted.
package lines
