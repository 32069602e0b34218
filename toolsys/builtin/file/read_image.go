package file

import (
	"encoding/base64"
	"net/http"
)

// maxMediaBytes is the largest image or document that is sent: base64 makes
// five million characters of it, which is the most the API takes.
const maxMediaBytes = 3_750_000

// imageType names the kind of image the API knows, by content; "" for all else.
func imageType(content []byte) string {
	switch t := http.DetectContentType(content); t {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return t
	}
	return ""
}

func viewImage(p place, content []byte, media string) (viewed, error) {
	if len(content) > maxMediaBytes {
		return viewed{}, failure(refuse(CodeKind, "The image %s has %d bytes; %d can be shown. Make it smaller first.", p.abs, len(content), maxMediaBytes))
	}
	return viewed{out: ReadOut{Kind: "image", Media: []Media{media64(media, content)}}}, nil
}

func media64(media string, content []byte) Media {
	return Media{Type: media, Data: base64.StdEncoding.EncodeToString(content)}
}
