package file_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/message"
)

// pdfOf writes a small document, a page per text; an empty text makes a page
// without any.
func pdfOf(texts ...string) string {
	var b bytes.Buffer
	var offsets []int
	object := func(body string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	b.WriteString("%PDF-1.4\n")
	var kids []string
	for i := range texts {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(texts)))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	for i, text := range texts {
		stream := ""
		if text != "" {
			stream = fmt.Sprintf("BT /F1 24 Tf 72 700 Td (%s) Tj ET", text)
		}
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*i))
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream))
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.String()
}

func pagesNamed(n int) []string {
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("Page %d has text", i+1))
	}
	return texts
}

func TestReadShowsPDFPages(t *testing.T) {
	w := newWorkplace(t, "")
	w.put("/repo/a.pdf", pdfOf(pagesNamed(3)...))
	assert.Equal(t, "<page number=\"1\">\nPage 1 has text\n</page>\n<page number=\"2\">\nPage 2 has text\n</page>\n<page number=\"3\">\nPage 3 has text\n</page>", w.read("a.pdf"))
	for pages, want := range map[string]string{
		"2":   "<page number=\"2\">\nPage 2 has text\n</page>\n[Shown: pages 2 to 2 of 3. Use pages for others.]",
		"2-9": "<page number=\"2\">\nPage 2 has text\n</page>\n<page number=\"3\">\nPage 3 has text\n</page>\n[Shown: pages 2 to 3 of 3. Use pages for others.]",
		"3-":  "<page number=\"3\">\nPage 3 has text\n</page>\n[Shown: pages 3 to 3 of 3. Use pages for others.]",
	} {
		assert.Equal(t, want, w.ok(file.Read(w.deps()), map[string]any{"file_path": "a.pdf", "pages": pages}))
	}
	assert.Contains(t, w.fails(file.Read(w.deps()), map[string]any{"file_path": "a.pdf", "pages": "4"}), "has 3 pages")
}

func TestReadShowsTwentyPagesAtMost(t *testing.T) {
	w := newWorkplace(t, "")
	w.put("/repo/a.pdf", pdfOf(pagesNamed(25)...))
	assert.Contains(t, w.fails(file.Read(w.deps()), map[string]any{"file_path": "a.pdf"}), "has 25 pages, and 20 at most")
	got := w.ok(file.Read(w.deps()), map[string]any{"file_path": "a.pdf", "pages": "5-"})
	assert.Contains(t, got, "Page 24 has text")
	assert.NotContains(t, got, "Page 25 has text")
	for _, pages := range []string{"1-21", "0", "3-2", "x", "1,2", "-3", "1 2"} {
		w.refused(file.Read(w.deps()), file.CodeRange, map[string]any{"file_path": "a.pdf", "pages": pages})
	}
	w.put("/repo/a.txt", "x\n")
	assert.Contains(t, w.fails(file.Read(w.deps()), map[string]any{"file_path": "a.txt", "pages": "1"}), "not a PDF")
}

func TestAPDFWithoutTextIsADocument(t *testing.T) {
	for name, content := range map[string]string{
		"a scan":    pdfOf("", ""),
		"malformed": "%PDF-1.4\nthis is no PDF\n%%EOF\n",
		"cut off":   pdfOf("gone")[:200],
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkplace(t, "")
			w.put("/repo/a.pdf", content)
			a := w.call(file.Read(w.deps()), map[string]any{"file_path": "a.pdf"})
			require.NoError(t, a.err)
			require.Len(t, a.Blocks, 2)
			assert.Equal(t, message.Document("application/pdf", base64.StdEncoding.EncodeToString([]byte(content))), a.Blocks[1])
		})
	}
}

// In documents of TeX words are apart only in where they stand, which the text of a page does not have.
func TestAPDFWhoseWordsAreGluedIsADocument(t *testing.T) {
	w := newWorkplace(t, "")
	line := "[(Words)-333(of)-333(one)-333(line)-333(that)-333(stand)-333(apart)-333(on)-333(the)-333(page)]TJ 0 -12 Td "
	glued := pdfOf("Paper) Tj " + strings.Repeat(line, 5) + "(End")
	w.put("/repo/paper.pdf", glued)
	a := w.call(file.Read(w.deps()), map[string]any{"file_path": "paper.pdf"})
	require.NoError(t, a.err)
	require.Len(t, a.Blocks, 2)
	assert.Contains(t, a.Blocks[0].Text, "The words of these pages cannot be told apart")
	assert.Equal(t, message.Document("application/pdf", base64.StdEncoding.EncodeToString([]byte(glued))), a.Blocks[1])

	pages := pagesNamed(101)
	pages[0] = strings.Repeat(strings.Repeat("word", 20)+" ", 5)
	w.put("/repo/book.pdf", pdfOf(pages...))
	assert.Contains(t, w.ok(file.Read(w.deps()), map[string]any{"file_path": "book.pdf", "pages": "1"}), "wordword", "what is too large for that is shown as it is read")
}

// What the API would refuse is refused here, with a word.
func TestAPDFWithoutTextIsNoEndlessDocument(t *testing.T) {
	w := newWorkplace(t, "")
	w.put("/repo/a.pdf", pdfOf(make([]string, 100)...))
	require.NoError(t, w.call(file.Read(w.deps()), map[string]any{"file_path": "a.pdf", "pages": "1"}).err)
	w.put("/repo/b.pdf", pdfOf(make([]string, 101)...))
	assert.Contains(t, w.fails(file.Read(w.deps()), map[string]any{"file_path": "b.pdf", "pages": "1"}), "101 pages, of 3750000 and 100 at most")
	w.put("/repo/c.pdf", "%PDF-1.4\n"+strings.Repeat("x", 4_000_000))
	assert.Contains(t, w.fails(file.Read(w.deps()), map[string]any{"file_path": "c.pdf"}), "too large to be shown as a document")
}

// A few bytes may lead to themselves, stand for millions, or have each character looked up in a huge table.
func TestAPDFCannotKeepTheReaderAtWork(t *testing.T) {
	const much = "it takes too much to read; give fewer pages, or ask for the file in another form"
	pages, letters := pdfOf("one", "two"), strings.Repeat("a", 400_000)
	font := strings.NewReplacer("/Encoding /WinAnsiEncoding", "/ToUnicode 7 0 R          ")
	for name, c := range map[string]struct {
		content string
		fail    int
	}{
		"its pages":   {strings.Replace(pages, "[4 0 R 6 0 R]", "[2 0 R 6 0 R]", 1), 0},
		"its parents": {strings.Replace(pdfOf("one"), "/Parent 2 0 R /MediaBox [0 0 612 792] /Resources", "/Parent 4 0 R /MediaBox [0 0 612 792] /Xesources", 2), 0},
		"too long":    {pdfOf("one", strings.Repeat("a", 9<<20), "three"), 2},
		"its font":    {font.Replace(pdfOf(letters, letters, "three")), 2},
	} {
		w := newWorkplace(t, "")
		w.put("/repo/a.pdf", c.content)
		a := w.call(file.Read(w.deps()), map[string]any{"file_path": "a.pdf"})
		got := fmt.Sprint(message.PlainText(a.Blocks), a.err)
		assert.Equal(t, c.fail, strings.Count(got, much), name)
		assert.Equal(t, c.fail == 0, strings.Contains(got, "These pages hold no text"), name)
	}
}

// The library makes room before it reads, also while it opens a file: 250 bytes could end the process.
func TestAPDFAnnouncesNoMoreThanAFileHolds(t *testing.T) {
	const big, row = "1000000000000", "/Predictor 12/Columns 5"
	table := func(size, w, parms string) string {
		return "1 0 obj\n<</Type/XRef/Size " + size + w + "/Filter/FlateDecode/DecodeParms<<" + parms + ">>/Length 8>>stream\n\x78\x9c\x03\x00\x00\x00\x00\x01\nendstream\nendobj\n"
	}
	for name, c := range map[string]struct {
		body  string
		bound bool
	}{
		"a row":                      {table("1", "/W[1 1 1]", "/Predictor 12/Columns "+big), true},
		"a row that hides":           {table("1", "/W[1 1 1]", "/Predictor 12/Col#75m#6Es%\n+0"+big), true},
		"a table":                    {table(big, "/W[1 1 1]", row), true},
		"an entry":                   {table("1", "/W[1 "+big+" 1]", row), true},
		"entries of no bytes":        {table("1", "/W[0 00%\n0]", row), true},
		"a range":                    {table("1", "/W[1 1 1]/Index[0 1%]\n"+big+" 1]", row), true},
		"a section":                  {"xref\n0 1\n0000000000 65535 f\n" + big + " 1\n0000000000 00000 n\ntrailer\n<</Size 1>>\n", true},
		"objects of a stream":        {"xref\n0 1\n0000000000 65535 f\ntrailer\n<</Size 1/N " + big + ">>\n", true},
		"what a file may have":       {table("999999", "/W[1 2 0]/Index[0 999999]", row), false},
		"offsets of a large file":    {"xref\n0 2\n0000000000 65535 f\n1000000000 00000 n\ntrailer\n<</Size 2>>\n", false},
		"widths of characters":       {table("1", "/W[1 [500.123456789 0] 1]", row), false},
		"numbers in what is painted": {table("1", "/W[1 1 1]", row) + big + " 1 2 3 f\n", false},
	} {
		w := newWorkplace(t, "")
		w.put("/repo/a.pdf", "%PDF-1.5\n"+c.body+"startxref\n9\n%%EOF")
		got := message.PlainText(w.call(file.Read(w.deps()), map[string]any{"file_path": "a.pdf"}).Blocks)
		assert.Contains(t, got, "No text can be taken out of this PDF", name)
		assert.Equal(t, c.bound, strings.Contains(got, "it announces more than a file can hold"), name)
	}
}

// Broken documents are errors or documents, never a panic.
func FuzzReadPDF(f *testing.F) {
	whole := pdfOf("one", "two")
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(strings.Replace(whole, "/Count 2", "/Count 9", 1))
	f.Add(strings.Replace(whole, "Tj", "'' Tj", 1))
	f.Fuzz(func(t *testing.T, content string) {
		w := newWorkplace(t, "")
		w.put("/repo/a.pdf", "%PDF-"+content)
		w.call(file.Read(w.deps()), map[string]any{"file_path": "a.pdf"})
	})
}
