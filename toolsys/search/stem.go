package search

// endings are taken off a word, the longest that leaves enough.
var endings = [...]string{"ations", "ation", "ings", "ing", "ions", "ion", "ies", "ied", "ed", "es", "s", "y", "e"}

// leastStem is how many letters an ending has to leave.
const leastStem = 4

// stem cuts an English word down to what its forms share: cancel, cancelled
// and cancellation. It need not be a word, and words of other languages stay
// as they are unless they end alike.
func stem(word string) string {
	for _, ending := range endings {
		if n := len(word) - len(ending); n >= leastStem && word[n:] == ending {
			word = word[:n]
			break
		}
	}
	if n := len(word); n > leastStem && word[n-1] == word[n-2] && word[n-1] < 128 {
		return word[:n-1]
	}
	return word
}

// stemsOf are the stems of words, each once.
func stemsOf(words []string) []string {
	stems := make([]string, len(words))
	for i, w := range words {
		stems[i] = stem(w)
	}
	return unique(stems)
}
