package promptcache

import "crypto/sha256"

// lookback is how many blocks before a breakpoint are tried.
const lookback = 20

// Block is one piece of a request.
type Block struct {
	// Name is what a report calls it: a tool's name, or what else it is.
	Name string
	Text string
	// Tokens are under the session's counter.
	Tokens int
	// Builtin marks the definition of a built-in tool, Breakpoint a block behind
	// which the prefix is kept.
	Builtin, Breakpoint bool
}

// Usage is what one request costs, in tokens.
type Usage struct {
	Read, Written, Plain int
	// Missed are those that were neither read nor new.
	Missed int
	// Rewritten are the missed ones that were written anew; the rest of them were paid
	// as plain input.
	Rewritten int
	// Builtin are the tokens of built-in definitions, BuiltinRead those of them that
	// were read.
	Builtin, BuiltinRead int
}

func (u Usage) plus(v Usage) Usage {
	return Usage{
		u.Read + v.Read, u.Written + v.Written, u.Plain + v.Plain, u.Missed + v.Missed, u.Rewritten + v.Rewritten,
		u.Builtin + v.Builtin, u.BuiltinRead + v.BuiltinRead,
	}
}

type digest = [sha256.Size]byte

// Cache is what a provider keeps of one session. The zero value is empty.
type Cache struct {
	kept map[digest]bool
	last []Block
}

// Send tells the cache of one request and gives what it costs.
func (c *Cache) Send(blocks []Block) Usage {
	hashes := prefixes(blocks)
	read, end := c.find(blocks, hashes), 0
	for i, b := range blocks {
		if b.Breakpoint {
			end = i + 1
		}
	}
	u := usage(blocks, read, max(read, end), c.last)
	c.keep(blocks, hashes)
	c.last = blocks
	return u
}

// prefixes hashes the request up to and with each block; lengths keep blocks apart.
func prefixes(blocks []Block) []digest {
	out := make([]digest, len(blocks))
	var before digest
	for i, b := range blocks {
		text := sha256.Sum256([]byte(b.Text))
		before = sha256.Sum256(append(before[:], text[:]...))
		out[i] = before
	}
	return out
}

// find is how many blocks can be read.
func (c *Cache) find(blocks []Block, hashes []digest) int {
	for i := len(blocks) - 1; i >= 0; i-- {
		if !blocks[i].Breakpoint {
			continue
		}
		for j := i; j >= max(0, i-lookback+1); j-- {
			if c.kept[hashes[j]] {
				return j + 1
			}
		}
	}
	return 0
}

func (c *Cache) keep(blocks []Block, hashes []digest) {
	if c.kept == nil {
		c.kept = map[digest]bool{}
	}
	for i, b := range blocks {
		if b.Breakpoint {
			c.kept[hashes[i]] = true
		}
	}
}

func usage(blocks []Block, read, end int, last []Block) Usage {
	had := map[string]bool{}
	for _, b := range last {
		had[b.Text] = true
	}
	var u Usage
	for i, b := range blocks {
		switch {
		case i < read:
			u.Read += b.Tokens
		case i < end:
			u.Written += b.Tokens
		default:
			u.Plain += b.Tokens
		}
		if i >= read && had[b.Text] {
			u.Missed += b.Tokens
			if i < end {
				u.Rewritten += b.Tokens
			}
		}
		if b.Builtin {
			u.Builtin += b.Tokens
			if i < read {
				u.BuiltinRead += b.Tokens
			}
		}
	}
	return u
}
