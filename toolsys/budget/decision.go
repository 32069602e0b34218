package budget

// Verdict says what became of a result's text.
type Verdict int

// Kept text is sent as it is. Persisted text is whole in a file and sent as a
// preview. Truncated text is cut short with a note, and the rest is nowhere.
const (
	Kept Verdict = iota
	Persisted
	Truncated
)

func (v Verdict) String() string {
	return [...]string{"kept", "persisted", "truncated"}[v]
}

// Decision is what was decided on one result, for the trace (K1, K2).
type Decision struct {
	CallID  string
	Verdict Verdict
	// Path is the file that holds the whole; "" unless persisted.
	Path string
	// Chars is the size of the whole and Inline of what is sent, in code points of
	// text.
	Chars, Inline int
	// Why names the limit that was passed, and for a truncated result why it could
	// not be saved; "" when kept.
	Why string
}
