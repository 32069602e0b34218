package file

import (
	"math"
	"regexp"
	"strconv"

	"toolbench/toolsys/tool"
)

// maxPages is how many pages of a PDF one call shows.
const maxPages = 20

// pages is a wanted range, both ends included, counted from 1. open says that
// the end was left out.
type pages struct {
	first, last int
	open        bool
}

var pagesForm = regexp.MustCompile(`^\s*(\d{1,6})\s*(-)?\s*(\d{1,6})?\s*$`)

// parsePages reads "3", "1-5" or "10-"; nothing means from the start to the end.
func parsePages(s string) (pages, *tool.Refusal) {
	if s == "" {
		return pages{first: 1, last: math.MaxInt, open: true}, nil
	}
	m := pagesForm.FindStringSubmatch(s)
	if m == nil || (m[2] == "" && m[3] != "") {
		return pages{}, refuse(CodeRange, "The pages %q are no range; write 3, 1-5 or 10-.", s)
	}
	first, _ := strconv.Atoi(m[1]) // six digits always fit
	r := pages{first: first, last: first}
	if m[2] != "" {
		r.last, r.open = first+maxPages-1, true
	}
	if m[3] != "" {
		r.last, _ = strconv.Atoi(m[3])
		r.open = false
	}
	switch {
	case r.first < 1 || r.last < r.first:
		return pages{}, refuse(CodeRange, "The pages %q are no range; pages count from 1 and the first comes first.", s)
	case r.last-r.first >= maxPages:
		return pages{}, refuse(CodeRange, "The pages %q are too many; %d at most can be shown at once.", s, maxPages)
	}
	return r, nil
}
