// Package cli is the command line (O9): flags become a selection of scenarios, the
// scenarios become outcomes, the outcomes become reports and an exit code. It is
// the one package that knows both the bench and the reports, and the only one that
// reads the environment, the terminal and the disk.
//
// main.go does nothing but call Main, so that everything can be tested without a
// process.
package cli
