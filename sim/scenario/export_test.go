package scenario

// Vocabulary is the words of every sort, the system's and the format's own.
func Vocabulary(w Words) map[string][]string {
	all := map[string][]string{}
	for _, v := range append(w.vocabularies(), ownWords()...) {
		all[v.sort] = v.words
	}
	// These are read in other ways as well, by the packages that they belong to.
	all["mode"] = []string{"default", "plan", "auto", "acceptEdits", "bypass", "accept-edits", "bypassPermissions"}
	all["decision"] = []string{"allow", "ask", "deny"}
	all["action"] = []string{"accept", "decline", "cancel"}
	all["role"] = []string{"user", "assistant"}
	return all
}
