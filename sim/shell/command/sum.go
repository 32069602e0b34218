package command

import (
	"bufio"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"strings"
)

// md5sum, sha1sum, sha256sum [-bt] [FILE...]; md5sum -c [--quiet] [--status] [FILE...]
func runSum(p *Proc) int {
	o, ok := p.parse("btc", "binary>b", "text>t", "check>c", "quiet", "status", "tag>?")
	if !ok {
		return exitUsage
	}
	if o.has("c") {
		return p.checkSums(o)
	}
	return p.inputs(o.rest, func(name string, in *bufio.Reader) error {
		sum, err := digest(p.Name, in)
		mark := map[bool]string{true: " *", false: "  "}[o.has("b")]
		return firstError(err, p.print(sum+mark+name+"\n"))
	})
}

func digest(command string, in io.Reader) (string, error) {
	h := map[string]func() hash.Hash{"md5sum": md5.New, "sha1sum": sha1.New, "sha256sum": sha256.New}[command]()
	_, err := io.Copy(h, in)
	return hex.EncodeToString(h.Sum(nil)), err
}

func (p *Proc) checkSums(o options) int {
	lines, code := p.lines(o.rest, '\n')
	failed := 0
	for _, line := range lines {
		want, name, ok := strings.Cut(line, " ")
		if !ok {
			continue
		}
		name = strings.TrimLeft(name, " *")
		data, err := p.Files.ReadFile(name)
		got, _ := digest(p.Name, strings.NewReader(string(data)))
		verdict := "OK"
		if err != nil {
			p.failure(name, err)
			verdict = "FAILED open or read"
		} else if got != want {
			verdict = "FAILED"
		}
		if verdict != "OK" {
			failed++
		}
		if !o.has("status") && (verdict != "OK" || !o.has("quiet")) {
			p.printf("%s: %s\n", name, verdict)
		}
	}
	if failed > 0 {
		if !o.has("status") {
			p.complain("WARNING: %d computed checksum%s did NOT match", failed, map[bool]string{false: "s"}[failed == 1])
		}
		return exitFailure
	}
	return code
}

// base64 [-d] [-i] [-w N] [FILE]
func runBase64(p *Proc) int {
	o, ok := p.parse("diw:", "decode>d", "ignore-garbage>i", "wrap=>w")
	if !ok {
		return exitUsage
	}
	width, ok := natural(o.get("w", "76"))
	if !ok {
		return p.fail(exitFailure, "invalid wrap size: '%s'", o.get("w", ""))
	}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		data, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		if o.has("d") {
			return p.decode(string(data))
		}
		text := base64.StdEncoding.EncodeToString(data)
		if width == 0 {
			return p.print(text)
		}
		for len(text) > 0 {
			n := min(len(text), int(width))
			if err := p.print(text[:n] + "\n"); err != nil {
				return err
			}
			text = text[n:]
		}
		return nil
	})
}

func (p *Proc) decode(text string) error {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if e := p.print(string(data)); e != nil {
		return e
	}
	if err != nil {
		p.complain("invalid input")
	}
	return err
}
