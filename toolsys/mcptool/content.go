package mcptool

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/message"
)

// shown are the image types that a model takes.
var shown = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// blocks turns an answer's content into blocks, in order. Structured content stands
// in where there is no other; what a model cannot be shown becomes a line that says
// what it was.
func blocks(answer *mcp.CallToolResult) []message.Block {
	var out []message.Block
	for _, c := range answer.Content {
		out = append(out, block(c))
	}
	if len(out) == 0 {
		if raw := written(answer.StructuredContent); raw != nil {
			out = append(out, message.Text(string(raw)))
		}
	}
	return out
}

func block(c mcp.Content) message.Block {
	switch c := c.(type) {
	case *mcp.TextContent:
		return message.Text(c.Text)
	case *mcp.ImageContent:
		return binary("image", c.MIMEType, "", c.Data)
	case *mcp.AudioContent:
		return binary("audio", c.MIMEType, "", c.Data)
	case *mcp.ResourceLink:
		return message.Text(pointer(c))
	case *mcp.EmbeddedResource:
		return resource(c.Resource)
	}
	return message.Text(fmt.Sprintf("[content of a kind that cannot be shown: %T]", c))
}

// binary shows what a model can look at and names what it cannot.
func binary(kind, mediaType, uri string, data []byte) message.Block {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	switch mediaType = strings.TrimSpace(mediaType); {
	case shown[mediaType]:
		return message.Image(mediaType, base64.StdEncoding.EncodeToString(data))
	case mediaType == "application/pdf":
		return message.Document(mediaType, base64.StdEncoding.EncodeToString(data))
	}
	if uri != "" {
		uri = " " + uri
	}
	return message.Text(fmt.Sprintf("[%s%s of type %q, %d bytes, which cannot be shown]", kind, uri, mediaType, len(data)))
}

func pointer(l *mcp.ResourceLink) string {
	text := fmt.Sprintf("[resource %s: %s]", l.Name, l.URI)
	if l.Description != "" {
		text += " " + l.Description
	}
	return text
}

func resource(r *mcp.ResourceContents) message.Block {
	switch {
	case r == nil:
		return message.Text("[empty resource]")
	case r.Blob != nil:
		return binary("resource", r.MIMEType, r.URI, r.Blob)
	}
	return message.Text(fmt.Sprintf("[resource %s]\n%s", r.URI, r.Text))
}
