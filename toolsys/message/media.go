package message

import (
	"encoding/base64"
	"slices"
	"strings"
)

// What an API takes at most in a request: images and pages of documents, and their bytes, since
// it takes 32 MB in all.
const maxMedia, maxMediaBytes = 100, 28_000_000

// notSent stands where an image or a document was.
const notSent = "[An image or a document stood here. A request holds so many only, and the oldest are left out.]"

// media is how much room an image or a document takes.
type media struct{ items, bytes int }

// IsMedia reports whether b is an image or a document, or the result of a call that has some.
func IsMedia(b Block) bool {
	return b.Type == TypeImage || b.Type == TypeDocument || slices.ContainsFunc(b.Content, IsMedia)
}

// WithRoom gives history without its oldest images and documents, and how many those are, where
// an API would refuse all of them together, and with them the rest of the conversation. At are the
// messages that have some; see [Places]. Half of the room is made free at once, so that the next
// requests begin as this one does and caches can be read.
func WithRoom(history []Message, at []int) (_ []Message, left int) {
	var all []media
	for _, i := range at {
		all = appendMedia(all, history[i].Content)
	}
	if left = oldest(all); left == 0 {
		return history, 0
	}
	out, n := slices.Clone(history), left
	for _, i := range at {
		if n > 0 {
			out[i].Content = withoutMedia(out[i].Content, &n)
		}
	}
	return out, left
}

// oldest is how many at the front are left out. It only grows where more is added.
func oldest(all []media) (n int) {
	var sum media
	over := func(part int) bool { return sum.items > maxMedia/part || sum.bytes > maxMediaBytes/part }
	for i, m := range all {
		sum.items, sum.bytes = sum.items+m.items, sum.bytes+m.bytes
		if !over(1) {
			continue
		}
		for ; n < i && over(2) || n == i && over(1); n++ {
			sum.items, sum.bytes = sum.items-all[n].items, sum.bytes-all[n].bytes
		}
	}
	return n
}

func appendMedia(all []media, blocks []Block) []media {
	for _, b := range blocks {
		switch m := (media{items: 1, bytes: len(b.Data) + len(b.Raw)}); b.Type {
		case TypeDocument:
			m.items = pages(b.Data)
			fallthrough
		case TypeImage:
			all = append(all, m)
		default:
			all = appendMedia(all, b.Content)
		}
	}
	return all
}

// pages counts those of a PDF in base64. One that packs its objects counts as one page.
func pages(pdf string) int {
	data, _ := base64.StdEncoding.DecodeString(pdf) // up to where it is broken
	text := strings.ReplaceAll(string(data), "/Type /", "/Type/")
	return max(1, strings.Count(text, "/Type/Page")-strings.Count(text, "/Type/Pages"))
}

// withoutMedia gives blocks without the first n images and documents, and counts n down.
func withoutMedia(blocks []Block, n *int) []Block {
	out := slices.Clone(blocks)
	for i, b := range out {
		switch {
		case b.Type != TypeImage && b.Type != TypeDocument:
			out[i].Content = withoutMedia(b.Content, n)
		case *n > 0:
			out[i] = Text(notSent)
			*n--
		}
	}
	return out
}
