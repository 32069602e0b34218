package glossary

import (
	"strings"

	"toolbench/toolsys/search/terms"
)

// foldAll folds each word of a phrase.
func foldAll(phrase string) string {
	words := strings.Fields(phrase)
	for i, w := range words {
		words[i] = terms.Fold(w)
	}
	return strings.Join(words, " ")
}

// endings are those of verbs and plurals in Romance languages and in German, the
// longer first.
var endings = []string{
	"iendo", "ieron", "ando", "aron", "aban", "amos", "emos", "imos", "eln", "ern", "est", "ons", "ent", "ant", "ado", "ada", "ido", "ida",
	"ar", "er", "ir", "re", "en", "em", "es", "ez", "as", "os", "is", "et", "te", "st", "a", "e", "i", "o", "s", "n", "t", "r",
}

// leastClipped is how many letters an ending has to leave.
const leastClipped = 4

// clip takes the ending off a folded word that is long enough without, so that
// buscar, busca and buscando are the same. It need not be a word.
func clip(word string) string {
	for _, e := range endings {
		if head, ok := strings.CutSuffix(word, e); ok && len(head) >= leastClipped {
			return head
		}
	}
	return word
}
