// Package mix makes random conversations and makes failing ones small (O6).
//
// Case number i of a seed is always the same one. Each leaves some features out, by
// chance (swarm testing): a mix of everything hides what only a few things together
// can show. Shrink is greedy and deterministic: the same failure ends as the same
// small case. Scenario writes a case as a scenario's file, which shows it in the
// whole system.
package generate
