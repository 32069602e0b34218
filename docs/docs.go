// Package docs holds the documents of the project, which `toolbench help TOPIC` prints.
package docs

import "embed"

// Files are the documents.
//
//go:embed *.md
var Files embed.FS
