package unwind

import (
	"encoding/binary"
	"errors"
	"io"
)

var errShort = errors.New("the table ends too early")

// cursor reads numbers of a piece of a file, or of memory.
type cursor struct {
	data []byte
	at   int
	// base is the address of data[0].
	base uint64
	bad  bool
}

func (c *cursor) take(size int) []byte {
	if size < 0 || c.at+size > len(c.data) || c.at < 0 {
		c.bad, c.at = true, len(c.data)
		return make([]byte, max(0, min(size, 8)))
	}
	piece := c.data[c.at : c.at+size]
	c.at += size
	return piece
}

func (c *cursor) more() bool { return !c.bad && c.at < len(c.data) }

func (c *cursor) byte() byte     { return c.take(1)[0] }
func (c *cursor) short() uint16  { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *cursor) word() uint32   { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *cursor) double() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }

// number is one of any length (ULEB128), signed the same with a sign.
func (c *cursor) number() uint64 {
	value, shift := uint64(0), 0
	for {
		next := c.byte()
		if shift < 64 {
			value |= uint64(next&0x7f) << shift
		}
		shift += 7
		if next&0x80 == 0 || c.bad {
			return value
		}
	}
}

func (c *cursor) signed() int64 {
	value, shift := int64(0), 0
	for {
		next := c.byte()
		if shift < 64 {
			value |= int64(next&0x7f) << shift
		}
		shift += 7
		if next&0x80 == 0 || c.bad {
			if next&0x40 != 0 && shift < 64 {
				value |= -1 << shift
			}
			return value
		}
	}
}

// How an address is written in .eh_frame (DW_EH_PE).
const (
	formMask, relativeMask                            = 0x0f, 0x70
	formWhole, formUnsigned, form2, form4, form8      = 0x00, 0x01, 0x02, 0x03, 0x04
	formSigned, formSigned2, formSigned4, formSigned8 = 0x09, 0x0a, 0x0b, 0x0c
	relativeHere, relativeData                        = 0x10, 0x30
	formOmitted                                       = 0xff
)

// pointer reads an address in one of these forms; data is what relativeData counts from.
func (c *cursor) pointer(form byte, data uint64) uint64 {
	if form == formOmitted {
		return 0
	}
	here := c.base + uint64(c.at)
	var value uint64
	switch form & formMask {
	case formWhole, form8, formSigned8:
		value = c.double()
	case formUnsigned:
		value = c.number()
	case form2:
		value = uint64(c.short())
	case form4:
		value = uint64(c.word())
	case formSigned:
		value = uint64(c.signed())
	case formSigned2:
		value = uint64(int16(c.short()))
	case formSigned4:
		value = uint64(int32(c.word()))
	default:
		c.bad = true
	}
	switch form & relativeMask {
	case relativeHere:
		value += here
	case relativeData:
		value += data
	}
	return value
}

// piece reads a part of a file that may be of any length.
func piece(file io.ReaderAt, at uint64, size int) ([]byte, error) {
	if at > 1<<62 {
		return nil, errShort
	}
	data := make([]byte, size)
	read, err := file.ReadAt(data, int64(at))
	if read == 0 {
		return nil, err
	}
	return data[:read], nil
}
