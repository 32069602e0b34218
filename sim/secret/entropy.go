package secret

import (
	"math"
	"strings"
)

// telling reports whether the value of a telling name looks like a secret.
func telling(value string, t trust) bool {
	c := classes(value)
	if t == bySight {
		return len(value) >= 8 && c.kinds() >= 2 && c.digit > 0 && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "$")
	}
	if hexadecimal(value) || isUUID(value) || checksum(value) {
		return false
	}
	return len(value) >= 16 && c.digit > 0 && c.kinds() >= 2 && !strings.ContainsAny(value, "$@#*%") && entropy(value) >= 3 && c.turns*10 >= len(value)*3
}

// randomKind is what a report calls what only its looks give away.
const randomKind = "random text"

// least and most lengths of what stands alone and is taken for a key.
const (
	leastAlone = 32
	mostAlone  = 160
)

// alone gives long tokens of mixed classes that no word explains.
func alone(text string, add func(span)) {
	for i := 0; i < len(text); {
		if !base64s[text[i]] {
			i++
			continue
		}
		to := runOf(&base64s, text, i, 0)
		if isRandom(text, i, to) {
			add(span{i, to, randomKind})
		}
		i = to
	}
}

func isRandom(text string, from, to int) bool {
	s := strings.TrimRight(text[from:to], "=")
	if eq := strings.LastIndexByte(s, '='); eq >= 0 { // name=value
		s = s[eq+1:]
	}
	if len(s) < leastAlone || len(s) > mostAlone || strings.ContainsAny(s, "+/") || checksum(s) {
		return false
	}
	c := classes(s)
	return c.digit*12 >= len(s) && c.numbers >= 3 && c.upper >= 3 && c.lower >= 3 && c.other*8 <= len(s) && c.turns*100 >= len(s)*45 && entropy(s) >= 4.2 && !named(text, from)
}

// named reports a value whose name says that it is none: an id, a signature, a
// checksum, the data of an image.
func named(text string, from int) bool {
	to := from
	for to > 0 && from-to < 6 && strings.IndexByte("\"'\\:= ", text[to-1]) >= 0 {
		to--
	}
	begin := to
	for begin > 0 && to-begin < longestLabel && dashed[text[begin-1]] {
		begin--
	}
	if begin == to || to == from {
		return false
	}
	last, _ := lastWords(text[begin:to])
	switch last {
	case "id", "uuid", "ids", "signature", "data", "integrity", "checksum", "hash", "digest", "sha256", "sha512", "h1", "etag", "cursor":
		return true
	}
	return false
}

// ids begin like these; replay needs them.
var ids = []string{"toolu_", "srvtoolu_", "mcptoolu_", "msg_", "req_", "call_", "file_", "container_", "batch_", "chatcmpl-", "resp_", "fc_", "rs_", "run_", "thread_", "sha256-", "sha384-", "sha512-"}

func checksum(s string) bool {
	for _, prefix := range ids {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// class counts what a text is made of; turns is how often the
// class changes, numbers how often digits begin.
type class struct{ lower, upper, digit, other, turns, numbers int }

func (c class) kinds() int {
	n := 0
	for _, k := range []int{c.lower, c.upper, c.digit, c.other} {
		if k > 0 {
			n++
		}
	}
	return n
}

func classes(s string) class {
	var c class
	last := byte(0)
	for i := range len(s) {
		var is byte
		switch b := s[i]; {
		case b >= 'a' && b <= 'z':
			c.lower++
			is = 'a'
		case b >= 'A' && b <= 'Z':
			c.upper++
			is = 'A'
		case b >= '0' && b <= '9':
			c.digit++
			is = '0'
		default:
			c.other++
			is = '-'
		}
		if i > 0 && is != last {
			c.turns++
		}
		if is == '0' && is != last {
			c.numbers++
		}
		last = is
	}
	return c
}

// entropy is Shannon's, in bits a byte, of the text's own bytes.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

func hexadecimal(s string) bool {
	for i := range len(s) {
		if hexDigits[s[i]] == 0 {
			return false
		}
	}
	return true
}

func isUUID(s string) bool {
	return len(s) == 36 && strings.Count(s, "-") == 4 && hexadecimal(strings.ReplaceAll(s, "-", ""))
}
