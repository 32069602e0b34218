// Package property holds what must be true of the project whatever the input: the
// direction of its imports as a table, and that calls which run out of order leave the
// same results, files and state as one at a time. The packages below it generate random
// cases (generate), predict what must come of them (oracle), check what did (invariant),
// run both beside each other (fuzz, des), and plant faults in the code to see that all
// of it notices (mutants).
package property
