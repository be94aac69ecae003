/** Logos: a picture passes, and nothing that runs, fetches or unpacks to a giant does. */
import t from 'tap'
import { LOGO_BYTES_MAX, logoFault } from '../../../lib/branding/logo.ts'
import { pngOf } from '../../support/png.ts'

const png = (bytes: Uint8Array) => logoFault({ contentType: 'image/png', data: Buffer.from(bytes).toString('base64') })
const svg = (text: string) => logoFault({ contentType: 'image/svg+xml', data: Buffer.from(text).toString('base64') })
const drawing = (content: string, attributes = '') =>
  svg(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`,
  )

t.test('a PNG is complete and of limited size', async (t) => {
  const good = pngOf(2, 2)
  t.equal(png(good), null)
  t.equal(png(pngOf(2_048, 2_048)), null)
  t.match(png(pngOf(2_049, 1)), /2049 × 1/)
  t.match(png(pngOf(0, 1)), /not a complete PNG/)
  for (const [what, bytes] of [
    ['truncated', good.subarray(0, good.length - 5)],
    ['without an end', good.subarray(0, good.length - 12)],
    ['followed by something', Buffer.concat([good, Buffer.from('<script>')])],
    ['another type', Buffer.from('<svg/>')],
    ['empty', Buffer.alloc(0)],
    [
      'a length beyond the file',
      Buffer.concat([good.subarray(0, 8), Buffer.from([0xff, 0xff, 0xff, 0xff]), good.subarray(12)]),
    ],
  ] as const)
    t.match(png(bytes), /not a complete PNG/, what)
  t.match(png(Buffer.alloc(LOGO_BYTES_MAX + 1)), /at most 64 KiB/)
  t.match(logoFault({ contentType: 'image/png', data: 'AAA' }), /not base64/)
})

t.test('an SVG of drawing elements passes', async (t) => {
  t.equal(
    svg(
      `<?xml version="1.0" encoding="UTF-8"?><!-- made by hand --><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
        <defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/></linearGradient></defs>
        <style>.b{fill:url(#a)}</style><g fill="url(#a)"><path class="b" d="M0 0h9v9z"/><text>Bank &amp; Co.</text></g></svg>`,
    ),
    null,
  )
})

t.test('an SVG that runs, fetches or leads elsewhere is refused, with the reason', async (t) => {
  for (const [content, reason] of [
    ['<script>alert(1)</script>', /The element script/],
    ['<SCRIPT>alert(1)</SCRIPT>', /The element SCRIPT/],
    ['<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>', /The element script/],
    ['<foreignObject><p xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>', /The element foreignObject/],
    ['<a href="https://example.com/"><path/></a>', /The element a /],
    ['<image href="https://example.com/x.png"/>', /The element image/],
    ['<use href="#a"/>', /The element use/],
    ['<animate attributeName="href" to="javascript:alert(1)"/>', /The element animate/],
    ['<path onload="alert(1)"/>', /The attribute onload/],
    ['<path ONCLICK="alert(1)"/>', /The attribute ONCLICK/],
    ['<linearGradient xlink:href="https://example.com/#a"/>', /outside itself/],
    ['<g fill="url(https://example.com/a)"/>', /outside itself/],
    ['<g style="fill:u\\72l(https://example.com/a)"/>', /outside itself/],
    ['<style>@import "https://example.com/a.css";</style>', /outside itself/],
    ['<style><![CDATA[.a{background:url( "//example.com/a")}]]></style>', /outside itself/],
    ['<g xml:base="https://example.com/"/>', /The attribute base/],
    ['<?xml-stylesheet href="https://example.com/a.css"?>', /processing instructions/],
    ['<path>', /well-formed/],
    ['&entity;', /well-formed/],
    ['<g>'.repeat(32) + '</g>'.repeat(32), /32 deep/],
  ] as const)
    t.match(drawing(content), reason, content.slice(0, 60))
  t.match(drawing('', 'onload="alert(1)"'), /The attribute onload/)
  t.match(svg('<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>'), /document type/)
  t.match(svg('<html xmlns="http://www.w3.org/1999/xhtml"/>'), /outermost element/)
  t.match(svg('<svg/>'), /The element svg/, 'without the namespace a browser draws nothing')
  t.match(svg(''), /well-formed/)
  t.match(logoFault({ contentType: 'image/svg+xml', data: Buffer.from([0xff, 0xfe]).toString('base64') }), /UTF-8/)
})
