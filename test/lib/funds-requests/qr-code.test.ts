/** QR codes: what a camera reads from the picture is the text. */
import fc from 'fast-check'
import decodeQR from 'qr/decode.js'
import t from 'tap'
import { qrCode, type QrCode } from '../../../lib/funds-requests/qr-code.ts'

const PIXELS = 4

/** Draws a picture and reads it. */
function read({ size, path }: QrCode): string {
  const width = size * PIXELS
  const data = new Uint8ClampedArray(width * width * 4).fill(255)
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let row = Number(y) * PIXELS; row < (Number(y) + 1) * PIXELS; row++)
      for (let column = Number(x) * PIXELS; column < (Number(x) + Number(length)) * PIXELS; column++)
        data.set([0, 0, 0], (row * width + column) * 4)
  return decodeQR({ width, height: width, data })
}

t.test('a picture says what was drawn, in letters of every language', (t) => {
  for (const text of ['BCD\n002\n1\nSCT\n\nMüller & Søn ŁTD\nDE89370400440532013000\nEUR123.45', 'a', 'x'.repeat(331)])
    t.equal(read(qrCode(text)), text)
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z0-9a-z äßéłŻ.,\n-]{1,160}$/), (text) => read(qrCode(text)) === text),
    { numRuns: 30 },
  )
  t.end()
})

t.test('a picture has the white frame that readers need, and is as large as the text needs', (t) => {
  const { size, path } = qrCode('short')
  t.equal(size, 21 + 2 * 4, 'the smallest code and four modules at each side')
  const runs = Array.from(path.matchAll(/M(\d+) (\d+)h(\d+)/g), ([, ...numbers]) => numbers.map(Number))
  t.ok(runs.every(([x, y, length]) => x! >= 4 && y! >= 4 && x! + length! <= size - 4 && y! < size - 4))
  t.equal(qrCode('x'.repeat(331)).size, 69 + 2 * 4, 'the longest payment fits version 13, the largest of the guideline')
  t.end()
})
