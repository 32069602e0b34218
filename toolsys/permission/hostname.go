package permission

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// networkName writes a host, or a pattern for hosts, as the network knows it: in ASCII. Each label is
// written by itself, so that stars stay. The forms are few and fixed, and this package links no tables of
// characters: a label of which the form is not certain is an error, and the host stays.
func networkName(content string) (string, error) {
	if !strings.ContainsFunc(content, beyondASCII) {
		return content, nil
	}
	labels := strings.Split(content[len(domainPrefix):], ".")
	for i, label := range labels {
		switch {
		case !strings.ContainsFunc(label, beyondASCII):
		case strings.ContainsFunc(label, unsureInHosts):
			return content, fmt.Errorf("it is not known what the network calls the host %q; write it in ASCII, as xn--mller-kva.de, and a star only for whole names between the dots", label)
		default:
			labels[i] = "xn--" + punycode([]rune(strings.ToLower(label)))
		}
	}
	return domainPrefix + strings.Join(labels, "."), nil
}

// sameMachine reports whether two contents about hosts mean the machine itself. A name of it may lead to each of its
// addresses, and what listens on all of them is there under any.
func sameMachine(a, b string) bool {
	return isDomain(a) && isDomain(b) && ThisMachine(a[len(domainPrefix):]) && ThisMachine(b[len(domainPrefix):])
}

// ThisMachine reports whether a host is the machine itself, by a name or an address.
func ThisMachine(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback() || addr.IsUnspecified()
	}
	return strings.HasSuffix("."+host, ".localhost") || slices.Contains(ownNames, host)
}

// ownNames are the names beside localhost that systems give themselves.
var ownNames = []string{"localhost.localdomain", "ip6-localhost", "ip6-loopback"}

func beyondASCII(r rune) bool { return r > unicode.MaxASCII }

// unsureInHosts reports whether a character is none of hosts, or may stand for another there, as those of
// other widths do and those that are put together of two.
func unsureInHosts(r rune) bool {
	return r != '-' && !unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lo, unicode.Nd) || unicode.In(r, standIns)
}

// punycode is a label as RFC 3492 writes it in ASCII: first the characters that are ASCII, and then where
// each other one is put in, in the order of the characters.
func punycode(label []rune) string {
	out := []byte(string(slices.DeleteFunc(slices.Clone(label), beyondASCII)))
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	next, delta, bias := rune(unicode.MaxASCII+1), 0, 72
	for done := basic; done < len(label); next, delta = next+1, delta+1 {
		least := slices.Min(slices.DeleteFunc(slices.Clone(label), func(r rune) bool { return r < next }))
		delta, next = delta+int(least-next)*(done+1), least
		for _, r := range label {
			switch {
			case r < next:
				delta++
			case r == next:
				out = appendDelta(out, delta, bias)
				done++
				bias, delta = adapted(delta, done, done == basic+1), 0
			}
		}
	}
	return string(out)
}

// appendDelta writes a number in digits whose weight depends on the bias.
func appendDelta(out []byte, delta, bias int) []byte {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	for k := 36; ; k += 36 {
		t := min(max(k-bias, 1), 26)
		if delta < t {
			return append(out, digits[delta])
		}
		out = append(out, digits[t+(delta-t)%(36-t)])
		delta = (delta - t) / (36 - t)
	}
}

// adapted is the bias after a number was written.
func adapted(delta, done int, first bool) int {
	delta /= 2
	if first {
		delta /= 350
	}
	delta += delta / done
	k := 0
	for ; delta > 455; k += 36 {
		delta /= 35
	}
	return k + 36*delta/(delta+38)
}

// standIns are letters and digits that the network writes as others, and those that others are made of.
var standIns = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xaa, 0xaa, 1}, {0xb5, 0xb5, 1}, {0xba, 0xba, 1}, {0x130, 0x133, 1}, {0x13f, 0x140, 1}, {0x149, 0x149, 1}, {0x17f, 0x17f, 1},
		{0x1c4, 0x1cc, 1}, {0x1f1, 0x1f3, 1}, {0x3d0, 0x3d6, 1}, {0x3f0, 0x3f9, 1}, {0x587, 0x587, 1}, {0x958, 0x95f, 1}, {0x9dc, 0x9df, 1},
		{0xa33, 0xa36, 1}, {0xa59, 0xa5e, 1}, {0xb5c, 0xb5d, 1}, {0xe33, 0xe33, 1}, {0xeb3, 0xeb3, 1}, {0xedc, 0xedd, 1}, {0xf43, 0xf69, 1},
		{0x1100, 0x11ff, 1}, {0x13a0, 0x13fd, 1}, {0x1c80, 0x1c88, 1}, {0x1e9a, 0x1e9e, 1}, {0x1f71, 0x1ffc, 1}, {0x2100, 0x214f, 1}, {0x309f, 0x309f, 1},
		{0x30ff, 0x30ff, 1}, {0x3131, 0x318e, 1}, {0xa960, 0xa97f, 1}, {0xab70, 0xabbf, 1}, {0xd7b0, 0xd7ff, 1}, {0xf900, 0xffff, 1},
	},
	R32:         []unicode.Range32{{0x1d400, 0x1d7ff, 1}, {0x1fbf0, 0x1fbf9, 1}, {0x2f800, 0x2fa1d, 1}},
	LatinOffset: 3,
}
