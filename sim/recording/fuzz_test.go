package recording_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
)

// holds checks the invariants that no bytes may break.
func holds(t *testing.T, raw []byte) {
	if len(raw) > 1<<16 {
		return
	}
	rec, err := recording.Open("file", bytes.NewReader(raw), small, nil)
	if err != nil {
		require.True(t, errors.Is(err, recording.ErrNotRecording) || errors.Is(err, recording.ErrTooLarge) || errors.Is(err, recording.ErrUnreadable), "%v", err)
	}
	for _, p := range rec.Problems {
		assert.NotEmpty(t, p.Text)
		assert.NotEmpty(t, p.Kind)
	}
	for n, c := range rec.Conversations {
		assert.LessOrEqual(t, n+1, c.Number)
		for k, turn := range c.Turns {
			assert.Equal(t, k+1, turn.Number)
			assert.LessOrEqual(t, len(turn.Results), len(turn.Calls))
			answered := 0
			for _, call := range turn.Calls {
				if !call.Repeated && turn.Result(call.ID) != nil {
					answered++
				}
			}
			assert.Equal(t, len(turn.Calls), answered+len(turn.Unanswered), "a call has a result or a reason")
		}
	}
	again, err2 := recording.Open("file", iotest.HalfReader(bytes.NewReader(raw)), small, nil)
	assert.Equal(t, err == nil, err2 == nil)
	if err == nil {
		assert.Equal(t, rec, again)
	}
}

// seeds adds the fixtures of some formats, whole and cut.
func seeds(f *testing.F, formats ...recording.Format) {
	for _, x := range fixtures(f) {
		for _, format := range formats {
			if x.format == format {
				f.Add([]byte(x.text))
				f.Add([]byte(x.text[:2*len(x.text)/3]))
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	seeds(f, recording.Blocks, recording.Messages, recording.EventLines, recording.History)
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, raw) })
}

func FuzzStreams(f *testing.F) {
	seeds(f, recording.SSE)
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, append([]byte("event: "), raw...)) })
}

func FuzzFrames(f *testing.F) {
	seeds(f, recording.EventBytes)
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, raw) })
}

func FuzzYAML(f *testing.F) {
	seeds(f, recording.GoVCR1, recording.GoVCR2, recording.VCRPy, recording.RubyVCR, recording.HTTPMock)
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, raw) })
}

func FuzzDocument(f *testing.F) {
	seeds(f, recording.HAR)
	f.Add([]byte(`{"version":1,"interactions":[{"request":{"uri":"/v1/messages","body":"{\"messages\":[]}"},"response":{"status":{"code":200},"body":{"string":"event: x\n"}}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		holds(t, append([]byte(`{"log":`), bytes.TrimPrefix(raw, []byte("{\n  \"log\":"))...))
	})
}

func FuzzArchive(f *testing.F) {
	seeds(f, recording.Txtar)
	f.Add([]byte("-- request --\nPOST /v1/messages HTTP/1.1\nHost: x\n\n{\"messages\":[]}\n-- response --\nHTTP/1.1 200 OK\n\nevent: ping\n"))
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, append([]byte("x\n-- a --\n"), raw...)) })
}

func FuzzList(f *testing.F) {
	seeds(f, recording.Exchanges)
	f.Add([]byte(listed(f, transcript(f))))
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, append([]byte("[\n"), bytes.TrimPrefix(raw, []byte("["))...)) })
}

func FuzzTrace(f *testing.F) {
	seeds(f, recording.HTTPRR)
	f.Fuzz(func(t *testing.T, raw []byte) {
		holds(t, append([]byte("httprr trace v1\n"), bytes.TrimPrefix(raw, []byte("httprr trace v1\n"))...))
	})
}

// Whatever an event of Converse's streams holds, it is read or named.
func FuzzConverse(f *testing.F) {
	for line := range strings.Lines(converseLines(f)) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"throttlingException":{"message":"Too many"}}`))
	f.Add([]byte(`{"contentBlockDelta":{"contentBlockIndex":1e300,"delta":{"reasoningContent":{"redactedContent":"eA=="}}}}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		lines := strings.SplitAfter(converseLines(t), "\n")
		holds(t, []byte(strings.Join(lines[:4], "")+string(event)+"\n"+strings.Join(lines[4:], "")))
	})
}

func benchmark(b *testing.B, text string) {
	text = strings.Repeat(text, 1+(1<<20)/len(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := recording.Scan("file", strings.NewReader(text), recording.Limits{}, recording.Handler{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTranscript(b *testing.B) { benchmark(b, transcript(b)) }
func BenchmarkSSE(b *testing.B)        { benchmark(b, bareSSE(b)) }
func BenchmarkEventLines(b *testing.B) { benchmark(b, eventLines(b)) }
func BenchmarkHTTPMock(b *testing.B)   { benchmark(b, httpMock(b)+"---\n") }
func BenchmarkConverse(b *testing.B)   { benchmark(b, converseBare(b)) }
func BenchmarkFormatted(b *testing.B)  { benchmark(b, formatted(b, transcript(b))) }
func BenchmarkGoVCR(b *testing.B)      { benchmark(b, goVCR(b, 1)) }
