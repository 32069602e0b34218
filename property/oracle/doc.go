// Package model is the scheduler written down a second time, as slowly and plainly as
// possible, to be read as its definition (I1-I3, J1-J5, B3). There are two of it.
//
// Machine looks at all calls again after every event. It decides as schedule.Core
// does, action for action, whatever happens.
//
// Starts is no machine at all: where nothing stops anything, when each call starts
// and ends follows from a formula.
package oracle
