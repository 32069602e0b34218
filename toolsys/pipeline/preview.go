package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // a format that the API takes, as JPEG and PNG
	"image/jpeg"
	"image/png"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"toolbench/toolsys/message"
)

// head gives the first n code points of text, or fewer: where the second half of
// them has a line end, the cut is there, so that no line is shown in part.
func head(text string, n int) string {
	cut := prefix(text, n)
	if len(cut) == len(text) {
		return text
	}
	if end := strings.LastIndexByte(cut, '\n') + 1; end > len(cut)/2 {
		return cut[:end]
	}
	return cut
}

// prefix gives the first n code points.
func prefix(text string, n int) string {
	if n <= 0 {
		return ""
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// prefixBytes gives at most n bytes, cut between code points.
func prefixBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

// preview is what the model gets of a result that is in file.
func preview(text, file string, chars, n int) string {
	shown := head(text, n)
	note := fmt.Sprintf("[This result has %d characters, too many to show here. All of it is saved in %s: read or search that file for more.", chars, file)
	if shown == "" {
		return note + "]"
	}
	return fmt.Sprintf("%s Its first %d characters:]\n%s", note, utf8.RuneCountInString(shown), shown)
}

// longestWhy bounds the words of a filesystem in a note, in code points.
const longestWhy = 100

// truncate cuts text so that it and the note fit n code points; the note is never cut.
func truncate(text string, chars, n int, why string) string {
	why = prefix(why, longestWhy)
	note := func(shown int) string {
		return fmt.Sprintf("\n[Cut here: %d of %d characters are shown. %s.]", shown, chars, why)
	}
	shown := head(text, n-utf8.RuneCountInString(note(chars)))
	shown = prefixBytes(shown, MaxInlineBytes-1-len(note(chars)))
	return shown + note(utf8.RuneCountInString(shown))
}

// withText puts text where the first text block of blocks stands and drops the
// others; all that is not text keeps its order.
func withText(blocks []message.Block, text string) []message.Block {
	out := make([]message.Block, 0, len(blocks))
	placed := false
	for _, b := range blocks {
		switch {
		case b.Type != message.TypeText:
			out = append(out, b)
		case !placed:
			b.Text, placed = text, true
			out = append(out, b)
		}
	}
	return out
}

// ErrNoPlace is the error of a ResultStore that cannot save anything.
var ErrNoPlace = errors.New("there is no place to save results")

// ResultStore is where results go that are too large for the conversation. The zero ResultStore
// saves nothing: every result over its limit is then truncated (K3).
type ResultStore struct {
	// Save writes one result to a file; where it fails it leaves no part of one behind,
	// since half a result under the name of the full one would mislead.
	Save func(file, text string) error
	// Dir is the folder of the results.
	Dir string
}

// maxStem leaves room for a suffix in file systems that allow 255 bytes a name.
const maxStem = 120

var plainStem = regexp.MustCompile(`^[A-Za-z0-9_-]{1,120}$`)
var unsafeInStem = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// stem is the file name of a call without its ending. A call id comes from a model's
// server: one that is no plain word is spelled with what is, and distinguished by a
// hash, so that it can neither leave the folder nor meet another id's file.
func stem(callID string) string {
	if plainStem.MatchString(callID) {
		return callID
	}
	sum := sha256.Sum256([]byte(callID))
	plain := unsafeInStem.ReplaceAllString(callID, "_")
	return plain[:min(len(plain), maxStem-9)] + "-" + hex.EncodeToString(sum[:4])
}

// path names the n-th file of a call, from 1.
func (s ResultStore) path(callID string, n int) string {
	name := stem(callID)
	if n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return path.Join(s.Dir, name+".txt")
}

func (s ResultStore) save(file, text string) error {
	if s.Save == nil {
		return ErrNoPlace
	}
	return s.Save(file, text)
}

// What the API takes at most: of an image five million characters in base64 and, in a request with
// more than twenty of them, so many pixels on a side; of a document what leaves room for others in a
// request of 32 MB. An image of more pixels than maxPixels is not decoded.
const maxImageBytes, maxSide, maxPixels, maxDocumentBytes = 3_750_000, 2_000, 64_000_000, 20_000_000

// Fit makes blocks of the user's, or of a result, such as an API takes: it refuses the rest of the
// conversation together with an image that is none. Empty texts are left out, since a result may have
// no block, an image gets the type that its bytes have and is made smaller where it is too large, and
// words stand in place of what cannot be shown.
func Fit(blocks []message.Block) []message.Block {
	if !slices.ContainsFunc(blocks, func(b message.Block) bool { return b.Type != message.TypeText || b.Text == "" }) {
		return blocks
	}
	var out []message.Block
	for _, b := range blocks {
		switch {
		case b.Type == message.TypeText && b.Text == "":
		case b.Type == message.TypeImage && len(b.Raw) == 0:
			out = append(out, shown(b, picture)...)
		case b.Type == message.TypeDocument && len(b.Raw) == 0:
			out = append(out, shown(b, document)...)
		case b.Type == message.TypeToolResult:
			b.Content = Fit(b.Content)
			fallthrough
		default:
			out = append(out, b)
		}
	}
	return out
}

// shown gives what look makes of b, or words where it finds why b cannot be shown.
func shown(b message.Block, look func(message.Block, []byte) (out []message.Block, why string)) []message.Block {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	out, why := look(b, data)
	if err != nil {
		why = "it is not in base64"
	}
	if why != "" {
		return []message.Block{message.Text(fmt.Sprintf("[%s of type %q, %d bytes, which cannot be shown: %s]", b.Type, b.MediaType, len(data), why))}
	}
	return out
}

func picture(b message.Block, data []byte) (out []message.Block, why string) {
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	webp := len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
	switch {
	case webp && len(data) > maxImageBytes:
		return nil, fmt.Sprintf("%d bytes are the most", maxImageBytes)
	case webp:
		format = "webp"
	case err != nil:
		return nil, "it is broken, or neither PNG, JPEG, GIF nor WebP"
	case size.Width > maxPixels/max(1, size.Height):
		return nil, fmt.Sprintf("it has %d by %d pixels, and %d are the most", size.Width, size.Height, maxPixels)
	case max(size.Width, size.Height) > maxSide || len(data) > maxImageBytes:
		return smaller(data)
	}
	b.MediaType = "image/" + format
	return []message.Block{b}, ""
}

// smaller gives an image with at most maxSide pixels on a side, and words beside it: whoever reads a
// place off it has to know of what.
func smaller(data []byte) (out []message.Block, why string) {
	full, format, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, "it is broken: " + err.Error()
	}
	size, small := full.Bounds().Size(), full
	if side := max(size.X, size.Y); side > maxSide {
		small = scaled(full.(image.RGBA64Image), max(1, size.X*maxSide/side), max(1, size.Y*maxSide/side))
	}
	var coded bytes.Buffer
	if format != "jpeg" {
		format, _ = "png", png.Encode(&coded, small)
	}
	if format == "jpeg" || coded.Len() > maxImageBytes {
		coded.Reset()
		format, _ = "jpeg", jpeg.Encode(&coded, small, nil)
	}
	if coded.Len() == 0 || coded.Len() > maxImageBytes {
		return nil, "it cannot be made small enough"
	}
	note := fmt.Sprintf("[The image has %d by %d pixels and is shown with %d by %d.]", size.X, size.Y, small.Bounds().Dx(), small.Bounds().Dy())
	return []message.Block{message.Image("image/"+format, base64.StdEncoding.EncodeToString(coded.Bytes())), message.Text(note)}, ""
}

// scaled gives an image of w by h pixels, each the mean of 16 places in what it stands for.
func scaled(full image.RGBA64Image, w, h int) *image.RGBA {
	from, out := full.Bounds(), image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		var r, g, b, a int
		for j := range 16 {
			c := full.RGBA64At(from.Min.X+(i%w*4+j%4)*from.Dx()/(w*4), from.Min.Y+(i/w*4+j/4)*from.Dy()/(h*4))
			r, g, b, a = r+int(c.R), g+int(c.G), b+int(c.B), a+int(c.A)
		}
		out.SetRGBA64(i%w, i/w, color.RGBA64{R: uint16(r / 16), G: uint16(g / 16), B: uint16(b / 16), A: uint16(a / 16)})
	}
	return out
}

func document(b message.Block, data []byte) (out []message.Block, why string) {
	switch {
	case !bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")):
		return nil, "it is no PDF"
	case bytes.Contains(data, []byte("/Encrypt")):
		return nil, "it is encrypted"
	case len(data) > maxDocumentBytes:
		return nil, fmt.Sprintf("%d bytes are the most", maxDocumentBytes)
	}
	b.MediaType = "application/pdf"
	return []message.Block{b}, ""
}
