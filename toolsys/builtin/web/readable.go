package web

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// readable turns a body into text for a model: HTML into Markdown, other text as
// it is. What is no text is an error. Where the server names no type, the
// beginning of the body tells. Links are made whole against the page's address,
// so that the next call can follow them.
func readable(raw []byte, contentType, from string) (text, mediaType string, err error) {
	mediaType, params, err := mime.ParseMediaType(cmp.Or(contentType, http.DetectContentType(raw)))
	if err != nil {
		mediaType, params, _ = mime.ParseMediaType(http.DetectContentType(raw))
	}
	if !textual(mediaType) {
		return "", mediaType, fmt.Errorf("the content is %s, which is not text", mediaType)
	}
	text = decoded(raw, params["charset"])
	if mediaType != "text/html" && mediaType != "application/xhtml+xml" {
		return text, mediaType, nil
	}
	markdown, err := htmltomarkdown.ConvertString(text, converter.WithDomain(from))
	if err != nil {
		return "", mediaType, fmt.Errorf("the page cannot be turned into Markdown: %w", err)
	}
	return markdown, mediaType, nil
}

func textual(mediaType string) bool {
	if strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+json") || strings.HasSuffix(mediaType, "+xml") {
		return true
	}
	switch mediaType {
	case "application/json", "application/xml", "application/javascript", "application/x-ndjson",
		"application/yaml", "application/x-yaml", "application/toml":
		return true
	}
	return false
}

// decoded reads the bytes in their charset. Without a known one they are UTF-8,
// or, where they cannot be, what old pages are written in.
func decoded(raw []byte, charset string) string {
	encoding, err := htmlindex.Get(charset)
	if err != nil {
		if utf8.Valid(raw) {
			return string(raw)
		}
		encoding = charmap.Windows1252
	}
	text, err := encoding.NewDecoder().Bytes(raw)
	if err != nil {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
