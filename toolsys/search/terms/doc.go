// Package terms cuts texts into what rankers compare (SPEC E9): words by script,
// pairs of characters where no blanks part the words, parts of names, and forms of
// a word reduced to what they share. It knows letters, not meanings.
package terms
