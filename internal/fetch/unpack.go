package fetch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// acceptEncoding is what is offered, the cheapest to unpack first; deflate, being ambiguous, is understood
// but not asked for.
const acceptEncoding = "zstd, gzip, br"

// maxCodings bounds how often a body may be packed.
const maxCodings = 3

// contentCodings returns the codings of a body in the order in which they were applied, without those
// that change nothing.
func contentCodings(lines []string) ([]string, error) {
	var codings []string
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "", "identity", "none", "utf-8": // the last two are mistakes that exist
			case "gzip", "x-gzip", "br", "zstd", "deflate":
				codings = append(codings, name)
			default:
				return nil, &badEncoding{shorten(name), errUnknownCoding}
			}
		}
	}
	if len(codings) > maxCodings {
		return nil, &badEncoding{"all layers", errors.New("packed too often")}
	}
	return codings, nil
}

// unpackers are the decoders of a client, as few as there are processors to run them.
type unpackers chan *unpacker

func newUnpackers(maxBytes int64) unpackers {
	u := make(unpackers, min(runtime.GOMAXPROCS(0), 4))
	for range cap(u) {
		u <- &unpacker{maxBytes: maxBytes}
	}
	return u
}

func (u unpackers) take(ctx context.Context) (*unpacker, error) {
	select {
	case one := <-u:
		return one, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (u unpackers) giveBack(one *unpacker) { u <- one }

// unpacker keeps one decoder of each kind, made when it is first needed.
type unpacker struct {
	maxBytes int64
	source   bytes.Reader
	gzip     *gzip.Reader
	brotli   *brotli.Reader
	zstd     *zstd.Decoder
}

// unpack undoes codings, the last one first, and appends the result to the empty buffer dst.
func (u *unpacker) unpack(packed []byte, codings []string, dst []byte, limit int64) ([]byte, error) {
	for i := len(codings) - 1; i >= 0; i-- {
		out, err := u.undo(codings[i], packed, dst, limit)
		if err != nil {
			return out, err
		}
		if i == 0 {
			return out, nil
		}
		packed, dst = out, nil
	}
	return dst, nil
}

func (u *unpacker) undo(coding string, packed, dst []byte, limit int64) ([]byte, error) {
	if len(packed) == 0 {
		return dst, nil // an empty document needs no wrapping
	}
	var out []byte
	var err error
	switch coding {
	case "gzip", "x-gzip":
		out, err = u.gunzip(packed, dst, limit)
	case "deflate":
		out, err = u.inflate(packed, dst, limit)
	case "br":
		out, err = u.unbrotli(packed, dst, limit)
	case "zstd":
		out, err = u.unzstd(packed, dst, limit)
	}
	var large *tooLarge
	if err != nil && !errors.As(err, &large) {
		err = &badEncoding{coding, err}
	}
	return out, err
}

func (u *unpacker) gunzip(packed, dst []byte, limit int64) ([]byte, error) {
	u.source.Reset(packed)
	if u.gzip == nil {
		u.gzip = new(gzip.Reader)
	}
	if err := u.gzip.Reset(&u.source); err != nil {
		return dst, err
	}
	// The trailer tells the size; it is believed as far as it is possible and harmless.
	told := int64(binary.LittleEndian.Uint32(packed[len(packed)-4:]))
	dst = grown(dst, int(min(told, limit, 1032*int64(len(packed)), largeBody)))
	return appendAll(dst, u.gzip, limit)
}

// inflate reads what servers mean by deflate: zlib as the standard has it, or the bare stream.
func (u *unpacker) inflate(packed, dst []byte, limit int64) ([]byte, error) {
	u.source.Reset(packed)
	var r io.Reader = flate.NewReader(&u.source)
	if len(packed) >= 2 && packed[0]&0x0f == 8 && binary.BigEndian.Uint16(packed)%31 == 0 {
		z, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			return dst, err
		}
		r = z
	}
	return appendAll(dst, r, limit)
}

func (u *unpacker) unbrotli(packed, dst []byte, limit int64) ([]byte, error) {
	u.source.Reset(packed)
	if u.brotli == nil {
		u.brotli = new(brotli.Reader)
	}
	if err := u.brotli.Reset(&u.source); err != nil {
		return dst, err
	}
	out, err := appendAll(dst, u.brotli, limit)
	// The first byte tells the window; those of 8 and 16 MiB are not kept (RFC 7932 9.1).
	if err != nil || packed[0]&1 == 1 && packed[0]>>1&7 > 5 {
		u.brotli = nil
	}
	return out, err
}

// maxWindow is the most that a decoder of the zstd content coding must hold (RFC 9659).
const maxWindow = 8 << 20

func (u *unpacker) unzstd(packed, dst []byte, limit int64) ([]byte, error) {
	if u.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(uint64(u.maxBytes)))
		if err != nil {
			return dst, err
		}
		u.zstd = d
	}
	out, err := u.zstd.DecodeAll(packed, dst)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || err == nil && int64(len(out)) > limit {
		err = &tooLarge{limit}
	}
	if out == nil {
		out = dst
	}
	return out, err
}

// appendAll reads r to its end and fails when that is more than limit bytes.
func appendAll(dst []byte, r io.Reader, limit int64) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = grown(dst, min(2*cap(dst)+bufferSlack, int(limit)+1))
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if int64(len(dst)) > limit {
			return dst, &tooLarge{limit}
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}
