// Package terms cuts texts into what rankers compare, and holds the glossary. Texts
// become words by script, pairs of characters where no blanks separate the words, parts
// of names, and forms of a word reduced to what they share.
//
// The glossary lists which English words mean much the same where tools are concerned,
// what is short for what, and the words of some other languages, so that 天气预报 leads
// to a weather forecast. It was written for this purpose and is kept small: a few
// hundred concepts, not a dictionary. What it does not hold it cannot reach: rare words,
// idioms, and whatever needs a sentence to be understood. Words of a language that it
// does not have are matched as they stand.
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
package terms
