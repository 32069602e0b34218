package file

import (
	"toolbench/toolsys/tool"
)

// observe notes that a call saw or wrote content as the whole of a file (B5).
func observe(p place, content []byte) []tool.Observation {
	return []tool.Observation{tool.Seen(p.real, content)}
}

// observePart notes that a call saw count units of a file, from first on; the
// hash is still that of the whole, since any change counts.
func observePart(p place, content []byte, first, count int) []tool.Observation {
	o := tool.Seen(p.real, content)
	o.Read.Partial, o.Read.Offset, o.Read.Limit = true, first, count
	return []tool.Observation{o}
}

// observeChange notes a change made to a file: who knew a part of it still knows
// no more than a part.
func observeChange(p place, content []byte, c *tool.Context) []tool.Observation {
	before, known := remembered(p, c)
	o := tool.Seen(p.real, content)
	if known {
		o.Read.Partial, o.Read.Offset, o.Read.Limit = before.Partial, before.Offset, before.Limit
	}
	return []tool.Observation{o}
}

// remembered is what the conversation saw of a file, under the name it was given
// or the one its links lead to.
func remembered(p place, c *tool.Context) (tool.FileSeen, bool) {
	if seen, ok := c.State.Files.Get(p.real); ok {
		return seen, true
	}
	return c.State.Files.Get(p.abs)
}

// unseen refuses a change of an existing file whose present content the
// conversation does not know (B5).
func unseen(p place, content []byte, c *tool.Context) *tool.Refusal {
	seen, ok := remembered(p, c)
	switch {
	case !ok:
		return refuse(CodeNotRead, "%s was not read yet. Read it first, so that nothing unknown is overwritten.", p.abs)
	case seen.Hash != tool.HashOf(content):
		return refuse(CodeChanged, "%s changed since it was read. Read it again before changing it.", p.abs)
	}
	return nil
}

// unseenInPart is unseen for a call that replaces the whole file: having read a
// part of it is not enough then.
func unseenInPart(p place, content []byte, c *tool.Context) *tool.Refusal {
	if refusal := unseen(p, content, c); refusal != nil {
		return refusal
	}
	if seen, _ := remembered(p, c); seen.Partial {
		return refuse(CodeNotRead, "Only a part of %s was read. Read the whole file before replacing it, or change a part of it with Edit.", p.abs)
	}
	return nil
}
