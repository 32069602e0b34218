// Package pool decides which tools a request carries, in which order and in which
// bytes (C, D, E4). The catalogue is the only list of built-ins; gates, rules and
// settings narrow it anew for every request. The order is made for the prompt
// cache: built-ins first and sorted, then what servers brought, so that a server
// that comes or goes never moves a byte before it.
package pool
