package date

// monthNamed is the number of the month that a word means, 0 if it means none. Of English
// names the first three letters count.
func monthNamed(word string) int {
	if len(word) < 3 {
		return 0
	}
	switch string([]byte{word[0] | 0x20, word[1] | 0x20, word[2] | 0x20}) {
	case "jan":
		return 1
	case "feb":
		return 2
	case "mar":
		return 3
	case "apr":
		return 4
	case "may":
		return 5
	case "jun":
		return 6
	case "jul":
		return 7
	case "aug":
		return 8
	case "sep":
		return 9
	case "oct":
		return 10
	case "nov":
		return 11
	case "dec":
		return 12
	}
	if len(word) == 3 { // a weekday or a zone
		return 0
	}
	return localMonths[word]
}

// localMonths are the names that feedparser knows besides: Greek and Hungarian.
var localMonths = map[string]int{
	"Ιαν": 1, "Φεβ": 2, "Μάώ": 3, "Μαώ": 3, "Απρ": 4, "Μάι": 5, "Μαϊ": 5, "Μαι": 5, "Ιούν": 6, "Ιον": 6,
	"Ιούλ": 7, "Ιολ": 7, "Αύγ": 8, "Αυγ": 8, "Σεπ": 9, "Οκτ": 10, "Νοέ": 11, "Νοε": 11, "Δεκ": 12,

	"január": 1, "februári": 2, "február": 2, "március": 3, "április": 4, "máujus": 5, "május": 5, "június": 6,
	"július": 7, "augusztus": 8, "szeptember": 9, "október": 10, "november": 11, "december": 12,
}

// longestZone is the length of the longest name of a zone.
const longestZone = 4

// zone takes the name of a zone or an offset: "Z", "EST", "+05:30", "GMT+1", "Etc/GMT".
func (p *scan) zone() (seconds int, ok bool) {
	start := p.i
	if p.peek() == '+' || p.peek() == '-' {
		return p.offset()
	}
	name := p.word()
	if len(name) == 3 && p.accept('/') {
		name = p.word()
	}
	seconds, ok = zoneNamed(name)
	if !ok {
		p.i = start
		return 0, false
	}
	if p.peek() == '+' || p.peek() == '-' {
		if offset, ok := p.offset(); ok {
			return offset, true
		}
	}
	return seconds, true
}

// offset takes "+0530", "+05:30", "+530", "+05" or "-5"; the sign comes next.
func (p *scan) offset() (seconds int, ok bool) {
	start := p.i
	sign := 1
	if p.s[p.i] == '-' {
		sign = -1
	}
	p.i++
	hours, minutes := 0, 0
	switch n := p.digits(); n {
	case 1, 2:
		hours = p.number(n)
		if p.accept(':') {
			minutes, _ = p.short()
		}
	case 3, 4:
		hours, minutes = p.number(n-2), p.number(2)
	default:
		p.i = start
		return 0, false
	}
	return sign * (hours*3600 + minutes*60), true
}

// zoneNamed is the offset of a named zone. The letters of the military zones count as RFC 822
// printed them and as feedparser knows them.
func zoneNamed(name string) (seconds int, ok bool) {
	if len(name) == 0 || len(name) > longestZone {
		return 0, false
	}
	var buf [longestZone]byte
	for i := range len(name) {
		buf[i] = name[i] | 0x20
	}
	minutes, ok := zones[string(buf[:len(name)])]
	return minutes * 60, ok
}

// zones are the offsets of named zones from UTC in minutes.
var zones = map[string]int{
	"z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 60, "bst": 60,
	"met": 60, "mest": 120, "mez": 60, "mesz": 120, "cet": 60, "cest": 120, "sast": 120,
	"eet": 120, "eest": 180, "msk": 180, "msd": 240, "pkt": 300, "ist": 330, "ict": 420, "wib": 420,
	"hkt": 480, "sgt": 480, "awst": 480, "jst": 540, "kst": 540, "acst": 570, "acdt": 630,
	"aest": 600, "aedt": 660, "nzst": 720, "nzdt": 780,
	"nst": -210, "ndt": -150, "brt": -180, "art": -180, "adt": -180, "ast": -240, "at": -240,
	"edt": -240, "est": -300, "et": -300, "cdt": -300, "cst": -360, "ct": -360,
	"mdt": -360, "mst": -420, "mt": -420, "pdt": -420, "pst": -480, "pt": -480,
	"akdt": -480, "akst": -540, "hst": -600,
	"a": -60, "m": -720, "n": 60, "y": 720,
}
