// Package whole plays a case through the whole system: a scenario made of it runs in
// virtual time, and its trace is read back as the log that sim/des gives. Where the
// two logs differ, one of the two engines is wrong (O6).
package whole
