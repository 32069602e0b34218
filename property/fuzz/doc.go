// Package campaign runs many random cases, holds each against every promise, against
// the scheduler's definition and against the other engine, and makes what fails small
// (O6, O7). It counts how often rare situations came up: what never did was not looked
// at.
package fuzz
