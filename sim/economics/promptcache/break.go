package promptcache

import "strings"

// Break is where a request stopped being the one before it.
type Break struct {
	Turn int
	// Byte is the first one that differs, counted from the request's first
	// definition.
	Byte int
	// Before and Now are the blocks that stand there; "" is the request's end.
	Before, Now string
	// Builtins says that built-in definitions stood behind it: they are lost too.
	Builtins bool
	// Cause is what happened in the turn.
	Cause string
}

// broken finds the first difference of two requests; ok is false where the new one
// only goes on.
func broken(before, now []Block) (b Break, ok bool) {
	for i, old := range before {
		if i < len(now) && now[i].Text == old.Text {
			b.Byte += len(old.Text)
			continue
		}
		b.Before = old.Name
		if i < len(now) {
			b.Now = now[i].Name
			b.Byte += common(old.Text, now[i].Text)
		}
		for _, rest := range before[i:] {
			b.Builtins = b.Builtins || rest.Builtin
		}
		return b, true
	}
	return Break{}, false
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// cause joins what happened.
func cause(events []Event) string {
	var words []string
	for _, e := range events {
		words = append(words, e.About)
	}
	return strings.Join(words, "; ")
}
