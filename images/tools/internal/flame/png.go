package flame

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// The same picture for who can show no SVG, such as Slack. Each pixel is one byte, because the picture is drawn in a pod that is debugged.
const (
	pngWidth  = 1600
	pngScale  = pngWidth / width
	pngGlyph  = 7.0
	pngRow    = 18
	pngHead   = 62
	pngMargin = 13
	// Levels of a colour's red, green and blue.
	reds, greens, blues = 3, 9, 5
	background          = reds * greens * blues
	ink                 = background + 1
	faint               = background + 2
)

// PNG gives the flame graph of SVG as a picture of 1,600 pixels in width. Letters that its font lacks are boxes.
func PNG(title, subtitle string, stacks []Stack, unit Unit) ([]byte, error) {
	root := tree(stacks)
	boxes, depth := layout(root)
	canvas := image.NewPaletted(image.Rect(0, 0, pngWidth, pngHead+(depth+1)*pngRow+pngMargin), palette())
	fill(canvas, canvas.Bounds(), background)
	write(canvas, pngMargin, 24, ink, bounded(cleanName(title), pngWidth-2*pngMargin))
	write(canvas, pngMargin, 43, faint, bounded(cleanName(subtitle), pngWidth-2*pngMargin))
	for _, box := range boxes {
		left, top := int(box.x*pngScale), pngHead+(depth-box.depth)*pngRow
		wide := share(box.value, root.value) * (width - 2*margin) * pngScale
		fill(canvas, image.Rect(left, top, left+max(int(wide-0.4), 1), top+pngRow-1), warm(box.name))
		label := box.name
		if full := fmt.Sprintf("%s, %s, %.1f %%", box.name, Amount(box.value, unit), 100*share(box.value, root.value)); float64(len(full))*pngGlyph < wide-6 {
			label = full
		}
		write(canvas, left+4, top+13, ink, bounded(label, wide))
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err := encoder.Encode(&out, canvas)
	return out.Bytes(), err
}

// bounded is as much of a text as fits in so many pixels.
func bounded(text string, wide float64) string { return fitting(text, (wide-6)/pngGlyph*fontWidth+6) }

func palette() color.Palette {
	colours := make(color.Palette, 0, faint+1)
	for index := range background {
		red, green, blue := index/(greens*blues), index/blues%greens, index%blues
		colours = append(colours, color.RGBA{uint8(225 + 12*red), uint8(120 + 11*green), uint8(60 + 12*blue), 255})
	}
	return append(colours, color.RGBA{255, 253, 248, 255}, color.RGBA{29, 28, 29, 255}, color.RGBA{97, 96, 97, 255})
}

// warm is always the same for a name.
func warm(name string) uint8 {
	hash := fnv.New32a()
	hash.Write([]byte(name))
	return uint8(hash.Sum32() % background)
}

func fill(canvas *image.Paletted, area image.Rectangle, index uint8) {
	area = area.Intersect(canvas.Bounds())
	for y := area.Min.Y; y < area.Max.Y; y++ {
		start := canvas.PixOffset(area.Min.X, y)
		row := canvas.Pix[start : start+area.Dx()]
		for x := range row {
			row[x] = index
		}
	}
}

func write(canvas *image.Paletted, x, baseline int, index uint8, text string) {
	pen := font.Drawer{Dst: canvas, Src: image.NewUniform(canvas.Palette[index]), Face: basicfont.Face7x13, Dot: fixed.P(x, baseline)}
	pen.DrawString(strings.ReplaceAll(text, "…", "..."))
}
