package schema

import (
	"slices"
	"strconv"
)

// maxFreeMembers is how many members that the schema does not name the fast
// path compares with each other for duplicates.
const maxFreeMembers = 8

// acceptor walks an input along the plan.
type acceptor struct{ cursor }

// accepts reports whether raw is certainly valid: JSON without trailing data,
// without duplicated members or outsize numbers, and right by the schema. False
// means only that the validator must be asked. It does not allocate.
func (s *Schema) accepts(raw []byte) bool {
	if s.fast == nil || s.fast.opaque {
		return false
	}
	a := acceptor{cursor{b: raw}}
	a.space()
	return a.value(s.fast) && a.end()
}

func (a *acceptor) value(n *node) bool {
	if n.opaque {
		return false
	}
	switch a.peek() {
	case '{':
		return n.types&object != 0 && a.object(n)
	case '[':
		return n.types&array != 0 && a.array(n)
	case '"':
		return n.types&text != 0 && a.string(n)
	case 't':
		return n.types&boolean != 0 && a.word("true")
	case 'f':
		return n.types&boolean != 0 && a.word("false")
	case 'n':
		return n.types&null != 0 && a.word("null")
	}
	return a.bounded(n)
}

func (a *acceptor) string(n *node) bool {
	body, plain, ok := a.text()
	if !ok {
		return false
	}
	if n.words != nil && (!plain || !slices.Contains(n.words, string(body))) {
		return false
	}
	if n.minRunes <= 0 && n.maxRunes == maxInt {
		return true
	}
	length := int64(runes(body))
	return plain && length >= n.minRunes && length <= n.maxRunes
}

func (a *acceptor) bounded(n *node) bool {
	token, whole, ok := a.number()
	if !ok || len(token) > 300 {
		return false
	}
	if !whole {
		// An exponent may be huge, and 1.0 is an integer: both for the validator.
		return n.types&fraction != 0 && !n.bounded && !slices.ContainsFunc(token, isExponent)
	}
	if n.types&integer == 0 {
		return false
	}
	if !n.bounded {
		return true
	}
	if len(token) > 18 {
		return false
	}
	i, err := strconv.ParseInt(string(token), 10, 64)
	return err == nil && i >= n.minimum && i <= n.maximum
}

func isExponent(b byte) bool { return b|0x20 == 'e' }

func (a *acceptor) array(n *node) bool {
	count := int64(0)
	ok := a.items(func(int) bool {
		count++
		return a.value(n.items)
	})
	return ok && count >= n.minItems && count <= n.maxItems
}

func (a *acceptor) object(n *node) bool {
	var (
		seen  uint64
		free  [maxFreeMembers][]byte
		extra int
	)
	ok := a.members(func(name []byte, plain bool) bool {
		if !plain {
			return false
		}
		if i, known := n.members[string(name)]; known {
			twice := seen&(1<<i) != 0
			seen |= 1 << i
			return !twice && a.value(n.children[i])
		}
		if n.extra == nil || extra == len(free) {
			return false
		}
		for _, other := range free[:extra] {
			if string(other) == string(name) {
				return false
			}
		}
		free[extra] = name
		extra++
		return a.value(n.extra)
	})
	return ok && seen&n.required == n.required
}
