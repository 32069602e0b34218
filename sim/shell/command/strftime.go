package command

import (
	"fmt"
	"strings"
	"time"
)

// strftime fills date's directives; the locale is C. GNU's flags -, _, 0, ^ are known.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		flag := byte(0)
		if strings.IndexByte("-_0^", format[i]) >= 0 && i+1 < len(format) {
			flag = format[i]
			i++
		}
		digits := i
		for i+1 < len(format) && format[i] >= '0' && format[i] <= '9' {
			i++
		}
		text := timeField(format[i], t)
		if format[i] == 'N' && i > digits {
			n, _ := natural(format[digits:i])
			text = text[:min(int(n), 9)]
		}
		if format[i] == ':' && i+1 < len(format) && format[i+1] == 'z' {
			i++
			text = t.Format("-07:00")
		}
		b.WriteString(padded(text, flag))
	}
	return b.String()
}

func padded(text string, flag byte) string {
	switch flag {
	case '-':
		if trimmed := strings.TrimLeft(text, "0 "); trimmed != "" {
			return trimmed
		}
		return text[max(0, len(text)-1):]
	case '_':
		trimmed := strings.TrimLeft(text[:max(0, len(text)-1)], "0")
		return strings.Repeat(" ", max(0, len(text)-1-len(trimmed))) + trimmed + text[max(0, len(text)-1):]
	case '^':
		return strings.ToUpper(text)
	}
	return text
}

// layouts are the directives Go's own formats cover. It is read only.
var layouts = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'M': "04", 'S': "05", 'y': "06", 'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday", 'a': "Mon",
	'p': "PM", 'P': "pm", 'I': "03", 'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05", 'X': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'x': "01/02/06",
	'c': "Mon Jan _2 15:04:05 2006", 'r': "03:04:05 PM", '+': "Mon Jan _2 15:04:05 MST 2006", 'j': "002",
}

func timeField(c byte, t time.Time) string {
	if layout, ok := layouts[c]; ok {
		return t.Format(layout)
	}
	year, week := t.ISOWeek()
	switch c {
	case 's':
		return fmt.Sprint(t.Unix())
	case 'N':
		return fmt.Sprintf("%09d", t.Nanosecond())
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '%':
		return "%"
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1)
	case 'w':
		return fmt.Sprint(int(t.Weekday()))
	case 'V':
		return fmt.Sprintf("%02d", week)
	case 'G':
		return fmt.Sprint(year)
	case 'g':
		return fmt.Sprintf("%02d", year%100)
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7)
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7)
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100)
	case 'q':
		return fmt.Sprint((int(t.Month()) + 2) / 3)
	case 'k':
		return fmt.Sprintf("%2d", t.Hour())
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1)
	}
	return "%" + string(rune(c))
}
