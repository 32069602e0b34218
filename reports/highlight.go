package reports

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// mostHighlighted is how much code is looked at for its colours: what is longer is shown
// without.
const mostHighlighted = 50_000

// token is a piece of code of one kind.
type token struct{ text, kind string }

// kinds are the kinds of words in code that have a paint of their own, by chroma's categories.
var kinds = []struct {
	of    chroma.TokenType
	kind  string
	paint Paint
}{
	{chroma.Comment, "t-c", Dim}, {chroma.Keyword, "t-k", "35"}, {chroma.LiteralString, "t-s", Green}, {chroma.LiteralNumber, "t-n", Cyan},
	{chroma.NameFunction, "t-f", "34"}, {chroma.NameTag, "t-f", "34"}, {chroma.NameAttribute, "t-a", Yellow}, {chroma.NameBuiltin, "t-a", Yellow},
}

func kindOf(t chroma.TokenType) string {
	for _, k := range kinds {
		if t == k.of || t.SubCategory() == k.of || t.Category() == k.of {
			return k.kind
		}
	}
	return ""
}

func paintOf(kind string) Paint {
	for _, k := range kinds {
		if k.kind == kind {
			return k.paint
		}
	}
	return Plain
}

// knownLexers are those that were looked for, by language.
var knownLexers sync.Map

// lexerOf finds the lexer of a language or a file's name, once.
func lexerOf(language string) chroma.Lexer {
	l, ok := knownLexers.Load(language)
	if !ok {
		l, _ = knownLexers.LoadOrStore(language, cmp.Or(lexers.Get(language), lexers.Fallback))
	}
	return l.(chroma.Lexer)
}

// highlight tells the pieces of harmless lines of code apart. Where that cannot be done,
// or does not give the same text back, each line is one piece.
func highlight(language string, lines []string) [][]token {
	whole := each(lines, func(line string) []token { return []token{{text: line}} })
	text := strings.Join(lines, "\n") + "\n"
	if language == "" || len(text) > mostHighlighted {
		return whole
	}
	rows, ok := lexed(lexerOf(language), text)
	if !ok {
		knownLexers.Store(language, lexers.Fallback)
	}
	if len(rows) < len(lines) {
		return whole
	}
	for i, l := range lines {
		joined := ""
		for _, t := range rows[i] {
			joined += t.text
		}
		if joined != l {
			return whole
		}
	}
	return rows[:len(lines)]
}

// lexing is how long a text is read for its colours. Some lexers take time by the square of a line's
// length, and that of Jungle never ends; one that took too long is asked nothing more.
const lexing = time.Second

// lexed reads a text; a lexer that panics or takes too long gives nothing.
func lexed(lexer chroma.Lexer, text string) (rows [][]token, ok bool) {
	defer func() {
		if recover() != nil {
			rows, ok = nil, false
		}
	}()
	it, err := lexer.Tokenise(nil, text)
	if err != nil {
		return nil, false
	}
	row := []token{}
	end := time.Now().Add(lexing)
	for t := it(); t != chroma.EOF; t = it() {
		if time.Now().After(end) {
			return nil, false
		}
		for i, part := range strings.Split(t.Value, "\n") {
			if i > 0 {
				rows = append(rows, row)
				row = []token{}
			}
			if part != "" {
				row = append(row, token{part, kindOf(t.Type)})
			}
		}
	}
	return append(rows, row), true
}

// coloured gives lines of code as segments.
func coloured(language string, lines []string, colour bool) [][]segment {
	if !colour {
		language = ""
	}
	return each(highlight(language, lines), func(row []token) []segment {
		return each(row, func(t token) segment { return segment{text: t.text, paint: paintOf(t.kind)} })
	})
}
