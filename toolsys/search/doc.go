// Package search decides which tools go by name only, when, and how the model
// finds them again (SPEC E1-E3, E5, C4, E9).
//
// It is pure: entries, modes and queries in, decisions and ranked names out. An
// [Index] is built once per pool and is safe for concurrent searches.
//
// # Rankers
//
// The meaning of select:, full names and +words is the same under every [Ranker]; a ranker orders what is found by
// words. Seed is the baseline: name, hint and description, by full words and fixed weights. BM25 and BM25Params are
// the usual yardsticks. Lexicon is the default: it weighs a tool's fields each by itself, matches word forms, typos,
// abbreviations and words of like meaning, reads languages without blanks by pairs of characters, and some languages
// by the glossary, so that 天气预报 finds a weather forecast.
//
// None of them understands. A request that shares no word with a tool, nor one that the glossary leads to, does not
// find it; what is ironic, implied or a matter of the sentence as such is beyond all of them; and the glossary's
// translations are of words, some thousand concepts in nineteen languages, not of sentences.
//
// # glossary.txt
//
// A line is a concept: English words, the plainest first, then for each language a bar, its code and its words. An
// underscore stands for the blank in a phrase. A word may stand in several concepts. A number sign begins a comment.
// Words of a language that it does not have are matched as they stand.
//
// # forms.txt
//
// A line is a language's code and the endings, beginnings, question words or letters that it has.
//
// # stopwords.txt
//
// A line is a language: its code and the words that carry no meaning of their own. Of languages without blanks they
// are those that hide a word in them, or two neighbours that make one.
package search
