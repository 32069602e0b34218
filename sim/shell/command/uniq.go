package command

import (
	"strings"
)

// uniq [-cdiu] [-f N] [-s N] [-w N] [INPUT [OUTPUT]]
func runUniq(p *Proc) int {
	o, ok := p.parse("cdDiuf:s:w:z", "count>c", "repeated>d", "all-repeated>D", "ignore-case>i", "unique>u", "skip-fields=>f", "skip-chars=>s", "check-chars=>w", "zero-terminated>z")
	if !ok {
		return exitUsage
	}
	fields, ok1 := natural(o.get("f", "0"))
	chars, ok2 := natural(o.get("s", "0"))
	width, ok3 := natural(o.get("w", "999999999"))
	if !ok1 || !ok2 || !ok3 || len(o.rest) > 2 {
		return p.usage("invalid number, or extra operand")
	}
	end := byte('\n')
	if o.has("z") {
		end = 0
	}
	lines, code := p.lines(o.rest[:min(1, len(o.rest))], end)
	if code != 0 {
		return code
	}
	key := func(line string) string {
		for range fields {
			line = strings.TrimLeft(line, " \t")
			line = line[len(line)-len(strings.TrimLeftFunc(line, func(r rune) bool { return r != ' ' && r != '\t' })):]
		}
		line = line[min(int(chars), len(line)):]
		line = line[:min(int(width), len(line))]
		if o.has("i") {
			line = strings.ToLower(line)
		}
		return line
	}
	out := uniqOutput(lines, key, o, string(rune(end)))
	if len(o.rest) == 2 && o.rest[1] != "-" {
		if err := p.Files.WriteFile(o.rest[1], []byte(out)); err != nil {
			return p.failure(o.rest[1], err)
		}
		return 0
	}
	if p.print(out) != nil {
		return exitFailure
	}
	return 0
}

func uniqOutput(lines []string, key func(string) string, o options, end string) string {
	var b strings.Builder
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && key(lines[i+n]) == key(lines[i]) {
			n++
		}
		writeGroup(&b, lines[i:i+n], o, end)
		i += n
	}
	return b.String()
}

func writeGroup(b *strings.Builder, group []string, o options, end string) {
	n := len(group)
	if o.has("d") && n == 1 || o.has("D") && n == 1 || o.has("u") && n > 1 {
		return
	}
	if !o.has("D") {
		group = group[:1]
	}
	for _, line := range group {
		if o.has("c") {
			b.WriteString(padLeft(n, 7) + " ")
		}
		b.WriteString(line + end)
	}
}
