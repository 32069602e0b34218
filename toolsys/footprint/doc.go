// Package footprint gives the keys under which the effects of calls are compared
// (J8): two names that lead to one file must not look like two files, and a file
// that is not there yet is known by the folders that would have to be made for it.
package footprint
