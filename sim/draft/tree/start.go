package tree

import "strings"

// file is what is known, as it stood.
func (f *file) file(path string) File {
	out := File{Path: path}
	last := f.end
	for n := range f.start {
		last = max(last, n)
	}
	switch {
	case len(f.start) > 0 || f.ended:
		out.Text = f.text(last, &out)
	case len(f.loose) > 0:
		out.Seen, out.Text = InPart, f.pieces()
		out.Unseen = [][2]int{{1, 0}}
		out.Notes = append(out.Notes, "what it has was changed by the session, its place is unknown")
	}
	if f.late {
		out.Notes = append(out.Notes, "seen only after it was changed")
	}
	if f.moved {
		out.Notes = append(out.Notes, "changed by something else meanwhile: as it was seen first")
	}
	return out
}

func (f *file) text(last int, out *File) string {
	var b strings.Builder
	for n := 1; n <= last; n++ {
		text, ok := f.start[n]
		if !ok {
			if k := len(out.Unseen); k > 0 && out.Unseen[k-1][1] == n-1 {
				out.Unseen[k-1][1] = n
			} else {
				out.Unseen = append(out.Unseen, [2]int{n, n})
			}
		}
		b.WriteString(text + "\n")
	}
	if !f.ended {
		out.Unseen = append(out.Unseen, [2]int{last + 1, 0})
	}
	if out.Seen = Whole; len(out.Unseen) > 0 {
		out.Seen = InPart
	}
	return b.String()
}

// pieces are the texts that edits took away.
func (f *file) pieces() string {
	var b strings.Builder
	for _, w := range f.loose {
		b.WriteString(strings.TrimSuffix(w.old, "\n") + "\n")
	}
	return b.String()
}
