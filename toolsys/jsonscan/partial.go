package jsonscan

import "bytes"

// Complete makes the beginning of a JSON value a whole one, as well as that can be done:
// what is open is closed, and a member whose value has not begun is left out. It is for
// showing an input while it streams, and for nothing that decides.
func Complete(begun []byte) []byte {
	var open []byte // the closing brackets that are owed
	inText, escaped := false, false
	whole, owed := 0, []byte(nil) // the last place after which closing gives a value
	for i, b := range begun {
		switch {
		case inText:
			switch {
			case escaped:
				escaped = false
			case b == '\\':
				escaped = true
			case b == '"':
				inText = false
			}
		case b == '"':
			inText = true
		case b == '{' || b == '[':
			open = append(open, b+2)
			whole, owed = i+1, bytes.Clone(open)
		case (b == '}' || b == ']') && len(open) > 0:
			open = open[:len(open)-1]
			whole, owed = i+1, bytes.Clone(open)
		case b == ',':
			whole, owed = i, bytes.Clone(open)
		}
	}
	for _, try := range [][]byte{closed(begun, open, inText), closed(withoutEscape(begun), open, inText)} {
		c := Cursor{JSON: try}
		if c.Space(); c.Skip() && c.End() {
			return try
		}
	}
	return closed(begun[:whole], owed, false)
}

// withoutEscape drops an escape that has not come to its end.
func withoutEscape(begun []byte) []byte {
	if at := bytes.LastIndexByte(begun, '\\'); at >= 0 && len(begun)-at < 6 {
		return begun[:at]
	}
	return begun
}

// closed ends a text that is open, and then the brackets, the last first.
func closed(begun, open []byte, inText bool) []byte {
	out := bytes.Clone(begun)
	if inText {
		out = append(out, '"')
	}
	for i := len(open) - 1; i >= 0; i-- {
		out = append(out, open[i])
	}
	return out
}
