package tree

import (
	"slices"
	"strings"
)

// cell is a line as it is now: its text where it is known, and which line it was at the
// start, from 1; 0 where it came since.
type cell struct {
	text   string
	known  bool
	origin int
}

// file is what is known of one.
type file struct {
	now   []cell
	next  int            // the start's line after those of now
	start map[int]string // by line
	end   int            // how many lines there were, once the end was seen
	ended bool

	named, made bool
	// closed: it was written over, so that nothing more can be learned of its start.
	// moved: something changed it that the session did not say; late: it was seen only
	// after edits that cannot be undone.
	closed, moved, late bool
	// loose are edits whose place is not known yet.
	loose []swap
}

// swap is one replacement of text.
type swap struct {
	old, new string
	all      bool
}

func (f *file) blank() bool { return len(f.start) == 0 && len(f.loose) == 0 && !f.ended && !f.named }

// there says that it existed at the start.
func (f *file) there() bool {
	return !f.made && (f.named || f.ended || len(f.start) > 0 || len(f.loose) > 0)
}

func (f *file) listed() {
	if !f.closed {
		f.named = true
	}
}

// missing: it is not there. If nothing was known of it, it was not at the start.
func (f *file) missing() {
	if !f.closed && f.blank() {
		f.made, f.closed = true, true
	}
}

// write: the session wrote the whole of it. existed is what the result says of that.
func (f *file) write(existed bool) {
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
func (f *file) view(s sight) {
	if f.closed || s.from < 1 || s.from+len(s.lines) > maxLine {
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

// see puts lines in their place. Where they are not what was seen before, somebody else
// has changed the file: from then on lines cannot be told from those of the start.
func (f *file) see(from int, lines []string, whole bool) {
	f.reach(from + len(lines) - 1)
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
	if total := from + len(lines) - 1; whole && !f.moved && !f.ended && len(f.now) == total {
		f.end, f.ended = f.next-1, true
	}
}

// reach makes cells up to a line.
func (f *file) reach(line int) {
	for len(f.now) < line {
		f.now = append(f.now, cell{origin: f.next})
		f.next++
	}
}

// edit changes the file as the session did; the snippet that some tools answer with
// shows where.
func (f *file) edit(s sight) {
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
func (f *file) place(w swap) bool {
	if w.old == "" {
		return false
	}
	var at []span
	for _, r := range f.runs() {
		at = append(at, r.find(w.old)...)
	}
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

// run is a stretch of lines that are known, as one text.
type run struct {
	first int // its first cell
	text  string
}

// span is where a text stands: in the cells from first to last, after head and before
// tail, which stay.
type span struct {
	first, last int
	head, tail  string
}

func (f *file) runs() []run {
	var all []run
	for i := 0; i < len(f.now); i++ {
		if !f.now[i].known {
			continue
		}
		var b strings.Builder
		first := i
		for ; i < len(f.now) && f.now[i].known; i++ {
			b.WriteString(f.now[i].text + "\n")
		}
		all = append(all, run{first, b.String()})
	}
	return all
}

func (r run) find(old string) []span {
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
func (f *file) replace(s span, w swap) bool {
	text := s.head + w.new + s.tail
	if s.tail == "\n" {
		if !strings.HasSuffix(w.new, "\n") {
			return false // the next line, which nobody saw, becomes a part of this one
		}
		text = strings.TrimSuffix(s.head+w.new, "\n")
	}
	var cells []cell
	for _, line := range strings.Split(text, "\n") {
		cells = append(cells, cell{text: line, known: true})
	}
	f.now = slices.Replace(f.now, s.first, s.last+1, cells...)
	return true
}
