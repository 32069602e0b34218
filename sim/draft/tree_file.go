package draft

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/tool"
)

// cell is a line as it is now: its text where it is known, and which line it was at the
// start, from 1; 0 where it came since.
type cell struct {
	text   string
	known  bool
	origin int
}

// fileState is what is known of one.
type fileState struct {
	now   []cell
	next  int            // the start's line after those of now
	start map[int]string // by line
	end   int            // how many lines there were, once the end was seen
	ended bool

	named, made bool
	// closed: it was written over, so that nothing more can be learned of its start. moved: something changed it
	// outside the session's calls; late: it was seen only after edits that cannot be undone.
	closed, moved, late bool
	// loose are edits whose place is not known yet.
	loose []swap
}

// swap is one replacement of text.
type swap struct {
	old, new string
	all      bool
}

func (f *fileState) blank() bool {
	return len(f.start) == 0 && len(f.loose) == 0 && !f.ended && !f.named
}

// there reports whether it existed at the start.
func (f *fileState) there() bool { return !f.made && !f.blank() }

func (f *fileState) listed() {
	if !f.closed {
		f.named = true
	}
}

// missing notes that the file is not there. If nothing was known of it, it was not at the start.
func (f *fileState) missing() {
	if !f.closed && f.blank() {
		f.made, f.closed = true, true
	}
}

// write notes that the session wrote the whole of the file. existed is what the result has of that.
func (f *fileState) write(existed bool) {
	switch {
	case f.closed:
		return
	case existed:
		f.named = true
	case f.blank():
		f.made = true
	}
	f.closed = true
}

// view takes lines that were seen as they are now.
func (f *fileState) view(s observation) {
	if f.closed || s.from < 1 || s.from > maxLine-len(s.lines) {
		f.listed()
		return
	}
	f.named = true
	if len(f.loose) == 0 {
		f.see(s.from, s.lines, s.whole)
		return
	}
	before, sure := undone(strings.Join(s.lines, "\n"), f.loose)
	switch {
	case sure:
		loose := f.loose
		f.loose = nil
		f.see(s.from, strings.Split(before, "\n"), s.whole)
		for _, w := range loose {
			f.place(w)
		}
	case len(f.start) == 0:
		f.late, f.loose = true, nil
		f.see(s.from, s.lines, s.whole)
	}
}

// undone takes edits back in a text, the last first; it is sure only if each can be.
func undone(text string, edits []swap) (string, bool) {
	for _, w := range slices.Backward(edits) {
		if w.all || w.new == "" || strings.Count(text, w.new) != 1 {
			return "", false
		}
		text = strings.Replace(text, w.new, w.old, 1)
	}
	return text, true
}

// see puts lines in their place. Where they differ from what was seen before, the file was
// changed from outside: from then on it is not known which lines it had at the start.
func (f *fileState) see(from int, lines []string, whole bool) {
	total := from + len(lines) - 1
	for ; len(f.now) < total; f.next++ {
		f.now = append(f.now, cell{origin: f.next})
	}
	for i, text := range lines {
		c := &f.now[from-1+i]
		f.moved = f.moved || c.known && c.text != text
	}
	for i, text := range lines {
		c := &f.now[from-1+i]
		if !c.known && c.origin > 0 && !f.moved {
			f.start[c.origin] = text
		}
		c.text, c.known = text, true
	}
	if whole && !f.moved && !f.ended && len(f.now) == total {
		f.end, f.ended = f.next-1, true
	}
}

// edit changes the file as the session did; the snippet that some tools answer with shows where.
func (f *fileState) edit(s observation) {
	if f.closed {
		return
	}
	f.named = true
	for _, w := range s.swaps {
		if f.place(w) {
			continue
		}
		text := strings.Join(s.lines, "\n")
		before, sure := undone(text, []swap{w})
		if len(s.swaps) == 1 && len(s.lines) > 0 && sure && len(f.loose) == 0 && s.from >= 1 && s.from+len(s.lines) < maxLine {
			f.see(s.from, strings.Split(before, "\n"), false)
			if f.place(w) {
				continue
			}
		}
		f.loose = append(f.loose, w)
	}
}

// place makes an edit where its old text is known to stand.
func (f *fileState) place(w swap) bool {
	if w.old == "" {
		return false
	}
	at := slices.Concat(tool.Each(f.runs(), func(r lineRun) []span { return r.find(w.old) })...)
	if len(at) == 0 || len(at) > 1 && !w.all {
		return false
	}
	for _, s := range slices.Backward(at) {
		if !f.replace(s, w) {
			return false
		}
	}
	return true
}

// lineRun is a stretch of lines that are known, as one text.
type lineRun struct {
	first int // its first cell
	text  string
}

// span is where a text stands: in the cells from first to last, after head and before tail, which stay.
type span struct {
	first, last int
	head, tail  string
}

func (f *fileState) runs() []lineRun {
	var all []lineRun
	for i := 0; i < len(f.now); i++ {
		if !f.now[i].known {
			continue
		}
		var b strings.Builder
		first := i
		for ; i < len(f.now) && f.now[i].known; i++ {
			b.WriteString(f.now[i].text + "\n")
		}
		all = append(all, lineRun{first, b.String()})
	}
	return all
}

func (r lineRun) find(old string) []span {
	var all []span
	for at := 0; ; {
		i := strings.Index(r.text[at:], old)
		if i < 0 {
			return all
		}
		from, to := at+i, at+i+len(old)
		begin := strings.LastIndexByte(r.text[:from], '\n') + 1
		s := span{first: r.first + strings.Count(r.text[:from], "\n"), head: r.text[begin:from]}
		s.last = s.first + strings.Count(r.text[from:to], "\n")
		if rest, _, ok := strings.Cut(r.text[to:], "\n"); ok {
			s.tail = rest
		} else { // old takes the run's last line feed
			s.last--
			s.tail = "\n"
		}
		all = append(all, s)
		at = to
	}
}

// replace puts other lines into a span.
func (f *fileState) replace(s span, w swap) bool {
	text := s.head + w.new + s.tail
	if s.tail == "\n" {
		if !strings.HasSuffix(w.new, "\n") {
			return false // the next line, which nobody saw, becomes a part of this one
		}
		text = strings.TrimSuffix(s.head+w.new, "\n")
	}
	cells := tool.Each(strings.Split(text, "\n"), func(line string) cell { return cell{text: line, known: true} })
	f.now = slices.Replace(f.now, s.first, s.last+1, cells...)
	return true
}

// passage is what a result shows of a file.
type passage struct {
	from     int
	lines    []string
	whole    bool // nothing reports whether there is more
	numbered bool
	sign     string // behind the numbers
	listing  bool   // it is a folder
}

var (
	// number is a line's number in front of it, in the forms agents use; the sign after it is the same in all lines.
	number = regexp.MustCompile(`^ {0,8}(\d{1,7})(→|\t|\| ?|: ?|:)(.*)$`)
	// more are the words for a file that goes on, ended those for one that does not.
	more  = regexp.MustCompile(`(?i)(more lines|truncated|use .?(offset|view_range)|showing lines|lines omitted|file has more|line cut)`)
	ended = regexp.MustCompile(`(?i)^\(?end of file\b`)
	// wrapped are lines that stand around a file's text.
	wrapped  = regexp.MustCompile(`^\s*</?(file|content|path|type|file_content|document|output)\b[^<>]*>([^<>]*</(path|type)>)?\s*$`)
	reminder = regexp.MustCompile(`(?s)\s*<system-reminder>.*?</system-reminder>\s*$`)
	folder   = regexp.MustCompile(`(?i)^here('|’)?(re|s|re'?s| are|'re)? (the )?files and directories`)
)

// defaultLines is how many lines readers show where none is given.
const defaultLines = 2000

// passageOf reads a result as a passage of a file; offset is the first line asked for.
func passageOf(result string, offset int) passage {
	if folder.MatchString(result) || strings.Contains(strings.ToLower(result), "<type>directory</type>") {
		return passage{listing: true}
	}
	for strings.Contains(result, "</system-reminder>") && reminder.MatchString(result) { // what costs little is looked at first: results are long
		result = reminder.ReplaceAllString(result, "")
	}
	p, ok := withNumbers(strings.Split(result, "\n"))
	if ok {
		return p
	}
	if len(p.lines) > 2 && p.sure() { // numbered, and something else as well
		return passage{listing: true}
	}
	lines, whole := bare(strings.Split(result, "\n"))
	return passage{from: max(1, offset), lines: lines, whole: whole && len(lines) != defaultLines}
}

// mostStrays is how many lines without a number may stand around those with one.
const mostStrays = 3

// withNumbers takes the run of lines that are numbered, each by one more. Where the
// sign is one that texts have too, every line has to be.
func withNumbers(all []string) (passage, bool) {
	p := passage{whole: true, numbered: true}
	sign, strays := "", 0
	for _, line := range all {
		line = strings.TrimSuffix(line, "\r")
		m := number.FindStringSubmatch(line)
		n := 0
		if m != nil {
			n, _ = strconv.Atoi(m[1]) // seven digits always fit
		}
		switch {
		case m != nil && len(p.lines) == 0 && strays <= mostStrays:
			p.from, sign = n, m[2]
			p.lines = append(p.lines, m[3])
		case m != nil && strings.TrimSpace(m[2]) == strings.TrimSpace(sign) && n == p.from+len(p.lines):
			p.lines = append(p.lines, m[3])
		case strings.TrimSpace(line) == "" || wrapped.MatchString(line):
		case ended.MatchString(line):
			return p.sound(sign, strays)
		case len(line) < 300 && more.MatchString(line):
			p.whole = false
		default:
			if strays++; strays > mostStrays {
				return p.sound(sign, strays)
			}
		}
	}
	return p.sound(sign, strays)
}

// sure reports whether the sign behind the number cannot be there by chance.
func (p passage) sure() bool { return p.sign == "→" || p.sign == "\t" }

func (p passage) sound(sign string, strays int) (passage, bool) {
	p.sign = sign
	ok := len(p.lines) > 0 && p.from > 0 && (p.sure() && strays <= mostStrays || strays <= 1 && len(p.lines) > strays)
	if len(p.lines) == defaultLines {
		p.whole = false
	}
	if n := len(p.lines); n > 1 && p.lines[n-1] == "" {
		p.lines = p.lines[:n-1] // what stands after the last line feed
	}
	for i, line := range p.lines { // a line that was cut is not known
		p.lines[i], _, _ = strings.Cut(line, "… [line cut, ")
	}
	return p, ok
}

// bare takes a text without numbers, and what was written around it away.
func bare(all []string) ([]string, bool) {
	whole := true
	for len(all) > 0 && (strings.TrimSpace(all[len(all)-1]) == "" || wrapped.MatchString(all[len(all)-1]) || note(all[len(all)-1])) {
		whole = whole && !more.MatchString(all[len(all)-1])
		all = all[:len(all)-1]
	}
	for len(all) > 0 && wrapped.MatchString(all[0]) {
		all = all[1:]
	}
	for i, line := range all { // what a tool left out in the middle
		if strings.Contains(line, "truncated") && strings.IndexAny(line, "[.(<…") == 0 {
			return all[:i], false
		}
	}
	return all, whole
}

// note reports whether a line is what a tool adds below a text.
func note(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) < 300 && line != "" && strings.IndexAny(line, "[(.<…") == 0 && (more.MatchString(line) || ended.MatchString(line))
}

// sameText reports whether two results show the same lines of a file, however they number
// them. Whether there is a line behind the last line feed does not count.
func sameText(a, b string) bool {
	p, q := passageOf(a, 1), passageOf(b, 1)
	return p.from == q.from && slices.EqualFunc(p.lines, q.lines, func(x, y string) bool { return strings.TrimSuffix(x, "\r") == strings.TrimSuffix(y, "\r") })
}

// sameNames reports whether two results of a search list the same files, or lines of
// files, in whatever order; dir is what relative paths are below. Where one searched a
// single file and leaves out its name, it is left out of the other too.
func sameNames(a, b, dir string) bool {
	p, q := searchLines(a, dir), searchLines(b, dir)
	return slices.Equal(p, q) || slices.Equal(p, nameless(q)) || slices.Equal(nameless(p), q)
}

// nameless takes the name of a file from its lines, if all are of the same one.
func nameless(lines []string) []string {
	var all []string
	name := ""
	for _, line := range lines {
		if line == "--" {
			all = append(all, line)
			continue
		}
		m := single.FindStringSubmatch(line)
		if m == nil || name != "" && m[1] != name {
			return nil
		}
		name = m[1]
		all = append(all, m[2])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// single is a line with a file's name and a number in front.
var single = regexp.MustCompile(`^([^:]*?)[:-](\d{1,7}[:-].*)$`)

func searchLines(result, dir string) []string {
	var all []string
	for line := range strings.SplitSeq(strings.TrimSpace(result), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if foundLine.MatchString(line) || line == "" {
			continue
		}
		if !hit.MatchString(line) && isPath(line) {
			line = path.Clean(line)
		}
		all = append(all, strings.TrimPrefix(strings.TrimPrefix(line, dir+"/"), "./"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
