// Package glossary knows words of the trade (SPEC E9): which English words mean
// much the same where tools are concerned, what is short for what, and how some
// other languages say it, so that 天气预报 leads to a weather forecast.
//
// It is a list of its own, written for this purpose and kept small: a few hundred
// concepts, not a dictionary. What it does not hold it cannot reach: rare words,
// idioms, and whatever needs a sentence to be understood. Languages it has no
// words of are matched as they stand.
//
// # glossary.txt
//
// A line is a concept: English words, the plainest first, then for each language
// a bar, its code and its words. An underscore stands for the blank in a phrase.
// A word may stand in several concepts. A number sign begins a comment.
//
// # stopwords.txt
//
// A line is a language: its code and the words that carry no meaning of their own.
// Of languages without blanks they are those that hide a word in them, or two
// neighbours that make one.
package glossary
