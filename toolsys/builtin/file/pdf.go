package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ledongthuc/pdf"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// viewPDF shows pages as text. Where no text can be taken out - a scan, a broken
// or encrypted file - the document itself goes to the model.
func viewPDF(p place, content []byte, in ReadIn) (ReadOut, error) {
	want, refusal := parsePages(in.Pages)
	if refusal != nil {
		return ReadOut{}, failure(refusal)
	}
	doc, err := openPDF(content)
	if err != nil {
		return asDocument(p, content, doc.total, "No text can be taken out of this PDF ("+err.Error()+"); it is shown as a document.")
	}
	r, err := want.within(p, doc.total)
	if err != nil {
		return ReadOut{}, err
	}
	shown, found := doc.text(r)
	if !found {
		return asDocument(p, content, doc.total, "These pages hold no text; the whole PDF is shown as a document.")
	}
	if len(glued.FindAllString(shown, 4)) > 3 {
		if out, err := asDocument(p, content, doc.total, "The words of these pages cannot be told apart; the whole PDF is shown as a document."); err == nil {
			return out, nil
		}
	}
	if len(shown) > maxShownBytes {
		return ReadOut{}, failure(refuse(CodeRange, "These pages hold about %d tokens, more than the %d that one Read may show. Give a smaller range in pages.", len(shown)/4, maxShownBytes/4))
	}
	out := ReadOut{Kind: "pdf", Text: shown, First: r.first, Shown: r.shown, Total: r.total}
	if !r.complete() {
		out.Notes = []string{fmt.Sprintf("Shown: pages %d to %d of %d. Use pages for others.", r.first, r.first+r.shown-1, r.total)}
	}
	return out, nil
}

// glued is what becomes of a line whose words are apart only in where they stand, as in documents of TeX.
var glued = regexp.MustCompile(`[A-Za-z]{40}`)

// within is the range as far as the document goes.
func (w pages) within(p place, total int) (span, error) {
	if w.first > total {
		return span{}, failure(refuse(CodeRange, "%s has %s; page %d is beyond the end.", p.abs, render.Count(total, "page"), w.first))
	}
	r := span{first: w.first, shown: min(w.last, total) - w.first + 1, total: total}
	if r.shown > maxPages {
		return span{}, failure(refuse(CodeRange, "%s has %d pages, and %d at most can be shown at once. Give a range in pages, such as 1-%d.", p.abs, total, maxPages, maxPages))
	}
	return r, nil
}

// What is sent at most of a document that holds no text.
const maxMediaBytes, maxDocumentPages = 3_750_000, 100

func asDocument(p place, content []byte, total int, note string) (ReadOut, error) {
	if total > maxDocumentPages || len(content) > maxMediaBytes {
		return ReadOut{}, failure(refuse(CodeKind, "%s holds no text and is too large to be shown as a document: %d bytes and %s, of %d and %d at most.", p.abs, len(content), render.Count(total, "page"), maxMediaBytes, maxDocumentPages))
	}
	return ReadOut{Kind: "pdf", Notes: []string{note}, Media: []Media{media64("application/pdf", content)}}, nil
}

// What is read of a document at most: so often for one page, and so many bytes, unpacked, in one call.
const maxPDFReads, maxPDFBytes, maxPDFLooks, bytesOfStream = 100_000, 8 << 20, 100_000_000_000, 4 << 10

var errPDFWork = errors.New("it takes too much to read; give fewer pages, or ask for the file in another form")

// pdfDoc is a parsed document, and how many bytes may still be unpacked.
type pdfDoc struct {
	reader *pdf.Reader
	total  int
	source *source
	left   int64
}

// source are a document's bytes. The library goes on for ever where parts lead to themselves, and reads each time.
type source struct {
	*bytes.Reader
	left int
}

// ReadAt ends the library's work by a panic where it has read too often.
func (s *source) ReadAt(p []byte, at int64) (int, error) {
	if s.left--; s.left < 0 {
		panic(errPDFWork)
	}
	return s.Reader.ReadAt(p, at)
}

// malformed makes an error of the panic that the library has for files that are not as they should be.
func malformed(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("malformed: %v", cause)
	}
}

// endless are what lets the library make room for ten million things, or count them, before it looks at what is
// there: a row, a table's size or the objects of a stream; a table's ranges, and entries of no bytes; and sections
// of a table of text. PDF lets each letter of a name be written as a number, and comments stand between words.
var endless = sync.OnceValue(func() []*regexp.Regexp {
	name := func(names ...string) string {
		for i, n := range names {
			names[i] = regexp.MustCompile(`.`).ReplaceAllStringFunc(n, func(c string) string { return fmt.Sprintf(`(?:%s|#(?i:%x))`, c, c) })
		}
		return "/(?:" + strings.Join(names, "|") + ")"
	}
	const blank, many = `(?:[\s\x00]|%[^\r\n]*)`, `\+?0*[1-9]\d{7}`
	return []*regexp.Regexp{
		regexp.MustCompile(name("Columns", "Size", "N") + blank + `*` + many),
		regexp.MustCompile(name("W", "Index") + blank + `*\[(?:[^\]%]|%[^\r\n]*)*?[\s\x00\[]` + many),
		regexp.MustCompile(name("W") + blank + `*\[(?:[0+]|` + blank + `)*\]`),
		regexp.MustCompile(`xref(?:[\dfn+]|` + blank + `)*?[\s\x00]` + many + `\d*(?:` + blank + `+\+?\d+){3}` + blank + `+[fn]`),
	}
})

// openPDF parses a document.
func openPDF(content []byte) (doc pdfDoc, err error) {
	defer malformed(&err)
	if slices.ContainsFunc(endless(), func(r *regexp.Regexp) bool { return r.Match(content) }) {
		return pdfDoc{}, errors.New("it announces more than a file can hold")
	}
	from := &source{bytes.NewReader(content), maxPDFReads}
	reader, err := pdf.NewReader(from, int64(len(content)))
	if err != nil {
		return pdfDoc{}, err
	}
	total := reader.NumPage()
	if total < 1 {
		return pdfDoc{}, fmt.Errorf("no pages")
	}
	return pdfDoc{reader, total, from, maxPDFBytes}, nil
}

// text gives the pages' text, each under its number; false where there is none.
func (d *pdfDoc) text(r span) (string, bool) {
	var b strings.Builder
	found := false
	for n := r.first; n < r.first+r.shown; n++ {
		page, err := d.page(n)
		if err != nil {
			page = "[This page cannot be read: " + err.Error() + "]"
		} else if page != "" {
			found = true
		}
		fmt.Fprintf(&b, "<page number=\"%d\">\n%s\n</page>\n", n, page)
	}
	return strings.TrimSuffix(b.String(), "\n"), found
}

func (d *pdfDoc) page(n int) (text string, err error) {
	defer malformed(&err)
	if d.source.left > 0 {
		d.source.left = maxPDFReads
	}
	page := d.reader.Page(n)
	if page.V.IsNull() {
		return "", nil
	}
	if err := d.unpack(page); err != nil {
		return "", err
	}
	raw, err := page.GetPlainText(nil)
	return strings.TrimSpace(replaced(raw)), err
}

// unpack takes what a page's text is made of from what may be unpacked: a few bytes may stand for millions, and
// each character is looked up in its font's table.
func (d *pdfDoc) unpack(page pdf.Page) error {
	sizes := func(streams ...pdf.Value) (n int64) {
		for _, s := range streams {
			if s.Kind() == pdf.Stream && d.left >= 0 {
				if d.left < s.Key("DecodeParms").Key("Columns").Int64() { // which the library makes room for
					d.left = -1
					break
				}
				size, _ := io.Copy(io.Discard, io.LimitReader(s.Reader(), d.left+1)) // the reading itself meets the error
				n, d.left = n+size, d.left-size-bytesOfStream
			}
		}
		return n
	}
	contents, tables := page.V.Key("Contents"), int64(0)
	text := sizes(contents)
	for i := range contents.Len() {
		text += sizes(contents.Index(i))
	}
	for _, name := range page.Fonts() {
		tables = max(tables, sizes(page.Font(name).V.Key("ToUnicode")))
	}
	if d.left < 0 || text*tables > maxPDFLooks {
		return errPDFWork
	}
	return nil
}

// maxPages is how many pages of a PDF one call shows.
const maxPages = 20

// pages is a wanted range, both ends included, counted from 1.
type pages struct{ first, last int }

var pagesForm = regexp.MustCompile(`^\s*(\d{1,6})\s*(-)?\s*(\d{1,6})?\s*$`)

// parsePages reads "3", "1-5" or "10-"; nothing means from the start to the end.
func parsePages(s string) (pages, *tool.Refusal) {
	if s == "" {
		return pages{first: 1, last: math.MaxInt}, nil
	}
	m := pagesForm.FindStringSubmatch(s)
	if m == nil || (m[2] == "" && m[3] != "") {
		return pages{}, refuse(CodeRange, "The pages %q are no range; write 3, 1-5 or 10-.", s)
	}
	first, _ := strconv.Atoi(m[1]) // six digits always fit
	r := pages{first: first, last: first}
	if m[2] != "" {
		r.last = first + maxPages - 1
	}
	if m[3] != "" {
		r.last, _ = strconv.Atoi(m[3])
	}
	switch {
	case r.first < 1 || r.last < r.first:
		return pages{}, refuse(CodeRange, "The pages %q are no range; pages count from 1 and the first comes first.", s)
	case r.last-r.first >= maxPages:
		return pages{}, refuse(CodeRange, "The pages %q are too many; %d at most can be shown at once.", s, maxPages)
	}
	return r, nil
}
