package recording

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// httprrMark opens the traces of Go's httprr, each exchange of which is a line with the two lengths, in bytes, then
// the request and the response as they went over the wire.
var httprrMark = []byte("httprr trace v1")

// maxLengths is the longest line of lengths: two numbers.
const maxLengths = 64

// scanTrace reads such a trace, one exchange at a time.
func (s *scanner) scanTrace(r *bufio.Reader) error {
	s.format = HTTPRR
	lines := &lineReader{r: r, max: maxLengths}
	if _, err := lines.next(); err != nil {
		return s.broken(err)
	}
	tr := &traceScan{exchanges: s.exchanges(), r: r, line: 2}
	for l, err := range lines.all(s) {
		if err != nil {
			return err
		}
		tr.number++
		more, err := tr.exchange(string(l.text))
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return tr.chains.end()
}

type traceScan struct {
	*exchanges
	r *bufio.Reader
	// line is where the exchange's lengths stand.
	line int
}

// exchange reads one; more is false when what follows cannot be found any more.
func (tr *traceScan) exchange(lengths string) (more bool, err error) {
	sent, got, ok := traceLengths(lengths)
	switch limit := tr.s.limits.Part; {
	case !ok:
		tr.problem(Malformed, "the lengths of the next exchange should stand here; the rest of the file was left out", tr.line)
		return false, nil
	case sent > limit || got > limit:
		tr.problem(TooLarge, fmt.Sprintf("the exchange is larger than %d bytes; it and the rest of the file were left out", limit), tr.line)
		return false, nil
	}
	both, err := tr.bytes(sent + got)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		tr.problem(CutStream, "the last exchange is cut off", tr.line)
		return false, nil
	case err != nil:
		return false, tr.s.broken(err)
	}
	err = tr.pair(both[:sent], both[sent:])
	tr.line += 1 + bytes.Count(both, []byte("\n"))
	return true, err
}

func traceLengths(text string) (sent, got int64, ok bool) {
	first, second, _ := strings.Cut(strings.TrimSpace(text), " ")
	sent, err := strconv.ParseInt(first, 10, 64)
	got, err2 := strconv.ParseInt(strings.TrimSpace(second), 10, 64)
	return sent, got, err == nil && err2 == nil && sent >= 0 && got >= 0
}

// bytes reads exactly n bytes; memory grows with what is there, not with what a length gives.
func (tr *traceScan) bytes(n int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(tr.r, n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// pair reads both messages. A response that is cut shows what there is of it.
func (tr *traceScan) pair(request, response []byte) error {
	x := &exchange{number: tr.number, line: tr.line + 1}
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err == nil {
		x.url, x.asked = req.URL.String(), req.Header
		x.request, err = payload(request, req.TransferEncoding, req.Body)
	}
	var resp *http.Response
	if err == nil {
		resp, err = http.ReadResponse(bufio.NewReader(bytes.NewReader(response)), req)
	}
	if err == nil {
		x.status, x.header = resp.StatusCode, resp.Header
		x.response, err = payload(response, resp.TransferEncoding, resp.Body)
	}
	if err != nil {
		tr.problem(Malformed, "the exchange cannot be read: "+err.Error(), tr.line)
		return nil
	}
	return tr.chains.take(x)
}

// payload is a message's body. Whoever takes secrets out of a trace leaves its
// Content-Length, so that what is there counts; chunks have their own end.
func payload(message []byte, coding []string, body io.ReadCloser) ([]byte, error) {
	defer body.Close()
	if at := blankLine.FindIndex(message); at != nil && len(coding) == 0 {
		return message[at[1]:], nil
	}
	b, err := io.ReadAll(body)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // cut: what there is shows that by itself
	}
	return b, err
}

// blankLine ends a message's headers.
var blankLine = regexp.MustCompile(`\n\r?\n`)
