// Package bash holds what toolsys/shellcmd calls read-only against a real Bash.
//
// Scripts are generated over Bash's grammar from harmless and harmful pieces: each
// place where a script can hide a command has one. Those that are called read-only
// are run in a scratch folder, where nothing may change and nothing that the folder
// holds may be executed. A script that fails is made small and can be saved and run
// again.
//
// What it does not do: it does not look outside its scratch folder and its home, so a
// script that reads elsewhere is no finding; and what depends on programs that the
// machine lacks is not tried.
package bash
