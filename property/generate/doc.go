// Package generate makes random cases and makes failing ones small (O6). There are two kinds. A scheduler case
// (des.Case) is what both engines can run; a system case is a conversation of what only the whole system has: tools
// that are deferred and searched for, servers that come and go, rules, hooks and people that decide and rewrite,
// results too large for a request, real files and sub-agents; and faults in all of them (O7).
//
// Cases are data. Case number i of a seed is always the same one. Each leaves some features out, by chance (swarm
// testing): a case of everything hides what only a few things together can show. Shrinking is greedy and
// deterministic: the same failure ends as the same small case. Any case can be written as a scenario's file.
package generate
