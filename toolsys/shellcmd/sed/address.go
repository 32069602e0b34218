package sed

import (
	"errors"
	"regexp"

	"toolbench/toolsys/shellcmd/posixre"
)

func (p *parser) addresses(c *command) error {
	var err error
	if c.from, err = p.address(false); err != nil || c.from == nil {
		return err
	}
	p.skip(" \t")
	if p.peek() != ',' {
		if c.from.kind == byZero {
			return errors.New("invalid usage of line address 0")
		}
		return nil
	}
	p.at++
	p.skip(" \t")
	if c.to, err = p.address(true); err != nil {
		return err
	}
	if c.to == nil {
		return errors.New("unexpected `,'")
	}
	if c.from.kind == byZero && c.to.kind != byPattern {
		return errors.New("invalid usage of line address 0")
	}
	return nil
}

func (p *parser) address(second bool) (*address, error) {
	c := p.peek()
	switch {
	case c >= '0' && c <= '9':
		return p.lineAddress(), nil
	case c == '$':
		p.at++
		return &address{kind: byLast}, nil
	case c == '/':
		p.at++
		return p.patternAddress('/')
	case c == '\\' && p.at+1 < len(p.in):
		p.at += 2
		return p.patternAddress(p.in[p.at-1])
	case second && (c == '+' || c == '~'):
		p.at++
		kind := byCount
		if c == '~' {
			kind = byMultiple
		}
		return &address{kind: kind, n: p.number()}, nil
	}
	return nil, nil
}

func (p *parser) lineAddress() *address {
	n := p.number()
	if p.peek() == '~' {
		p.at++
		return &address{kind: byStep, n: n, step: p.number()}
	}
	if n == 0 {
		return &address{kind: byZero}
	}
	return &address{kind: byLine, n: n}
}

func (p *parser) patternAddress(delimiter byte) (*address, error) {
	text, ok := p.delimited(delimiter, true)
	if !ok {
		return nil, errors.New("unterminated address regex")
	}
	ignore, multi := false, false
	for {
		switch p.peek() {
		case 'I':
			ignore = true
		case 'M':
			multi = true
		default:
			re, err := p.compile(text, ignore, multi)
			return &address{kind: byPattern, re: re}, err
		}
		p.at++
	}
}

// compile gives nil for the empty pattern, which stands for the last one used.
func (p *parser) compile(text string, ignore, multi bool) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	syntax := posixre.Basic
	if p.extended {
		syntax = posixre.Extended
	}
	if multi {
		return posixre.CompileMultiline(text, syntax, ignore)
	}
	return posixre.Compile(text, syntax, ignore)
}
