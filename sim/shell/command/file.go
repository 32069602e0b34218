package command

import (
	"bytes"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// file [-bi] [--mime-type] FILE...
func runFile(p *Proc) int {
	o, ok := p.parse("biLhE", "brief>b", "mime>i", "mime-type", "dereference>L")
	if !ok {
		return exitUsage
	}
	width := 0
	for _, name := range o.rest {
		width = max(width, len(name))
	}
	for _, name := range o.rest {
		kind := p.describe(name, o)
		if o.has("b") {
			p.print(kind + "\n")
			continue
		}
		p.printf("%s:%s %s\n", name, strings.Repeat(" ", width-len(name)), kind)
	}
	return 0
}

func (p *Proc) describe(name string, o options) string {
	info, err := p.Files.Lstat(name)
	if err != nil {
		return "cannot open `" + name + "' (" + Reason(err) + ")"
	}
	mime := o.has("i") || o.has("mime-type")
	switch {
	case info.IsDir() && mime:
		return "inode/directory" + charset(o, "binary")
	case info.IsDir():
		return "directory"
	case info.Mode()&fs.ModeSymlink != 0 && !o.has("L"):
		target, _ := p.Files.Readlink(name)
		return "symbolic link to " + target
	}
	data, err := p.Files.ReadFile(name)
	if err != nil {
		return "cannot open `" + name + "' (" + Reason(err) + ")"
	}
	if mime {
		return mimeOf(name, data, o)
	}
	return contentOf(name, data)
}

func charset(o options, name string) string {
	if o.has("i") {
		return "; charset=" + name
	}
	return ""
}

func mimeOf(name string, data []byte, o options) string {
	switch {
	case len(data) == 0:
		return "inode/x-empty" + charset(o, "binary")
	case binary(data):
		kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
		return kind + charset(o, "binary")
	case path.Ext(name) == ".json":
		return "application/json" + charset(o, "us-ascii")
	case isASCII(data):
		return "text/plain" + charset(o, "us-ascii")
	}
	return "text/plain" + charset(o, "utf-8")
}

// magics are beginnings that tell a format. It is read only.
var magics = []struct{ begin, kind string }{
	{"\x89PNG\r\n\x1a\n", "PNG image data"}, {"\xff\xd8\xff", "JPEG image data"}, {"GIF8", "GIF image data"}, {"%PDF-", "PDF document"},
	{"PK\x03\x04", "Zip archive data"}, {"\x1f\x8b", "gzip compressed data"}, {"\x7fELF", "ELF executable"}, {"RIFF", "RIFF data"},
}

func contentOf(name string, data []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(data, []byte(m.begin)) {
			return m.kind
		}
	}
	switch {
	case len(data) == 0:
		return "empty"
	case binary(data) || !utf8.Valid(data):
		return "data"
	case bytes.HasPrefix(data, []byte("#!")):
		line, _, _ := strings.Cut(string(data[2:]), "\n")
		return script(strings.TrimSpace(line)) + " script, " + encoding(data) + " executable"
	case path.Ext(name) == ".json" && (data[0] == '{' || data[0] == '['):
		return "JSON text data"
	}
	return encoding(data)
}

func script(interpreter string) string {
	base := path.Base(strings.Fields(interpreter + " sh")[0])
	if base == "env" && len(strings.Fields(interpreter)) > 1 {
		base = strings.Fields(interpreter)[1]
	}
	switch base {
	case "sh":
		return "POSIX shell"
	case "bash":
		return "Bourne-Again shell"
	case "python", "python3":
		return "Python"
	}
	return "a " + interpreter
}

func encoding(data []byte) string {
	text := "Unicode text, UTF-8 text"
	if isASCII(data) {
		text = "ASCII text"
	}
	if bytes.Contains(data, []byte("\r\n")) {
		text += ", with CRLF line terminators"
	}
	return text
}

func isASCII(data []byte) bool {
	for _, c := range data {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
