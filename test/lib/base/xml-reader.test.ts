import t from 'tap'

import { TEXT_MAX, XmlReader, type XmlFault } from '../../../lib/base/xml-reader.ts'

class Fault extends Error {
  readonly fault: XmlFault
  constructor(fault: XmlFault, message: string) {
    super(message)
    this.fault = fault
  }
}

/** Reads a text and returns the texts of its elements, as `name=text`. */
function read(text: string): string[] {
  const found: string[] = []
  const reader = new XmlReader({ close: (name, own) => void found.push(`${name}=${own.trim()}`) }, (fault, message) => {
    throw new Fault(fault, message)
  })
  reader.write(Buffer.from(text))
  reader.end()
  return found
}

/** Returns the fault of a text; null where it has none. */
function faultOf(text: string): XmlFault | null {
  try {
    read(text)
    return null
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.fault
  }
}

t.test('a long list may have line ends and indents between its elements', (t) => {
  const count = TEXT_MAX / 4
  const list = `<list>${'\n     <a>1</a>'.repeat(count)}\n</list>`
  t.strictSame(read(list), [...Array.from({ length: count }, () => 'a=1'), 'list='])
  t.end()
})

t.test('a text has a limit, however it is split', (t) => {
  const half = 'x'.repeat(TEXT_MAX / 2)
  t.strictSame(read(`<a>${half}<b/>${half}</a>`).length, 2)
  t.equal(faultOf(`<a>${half}<b/>${half}x</a>`), 'too_large')
  t.equal(faultOf(`<a>${' '.repeat(TEXT_MAX)}<b/>x<b/>${half}${half}</a>`), 'too_large')
  t.end()
})

t.test('what is no XML that can be read is said to be none', (t) => {
  t.equal(faultOf('<a>'), 'not_well_formed')
  t.equal(faultOf('<!DOCTYPE a><a/>'), 'not_well_formed')
  t.throws(() => read('<!DOCTYPE a><a/>'), /A document type is not accepted/)
  t.equal(faultOf('<a>'.repeat(65)), 'not_well_formed')
  t.equal(faultOf(`<a><!--${'x'.repeat(400_000)}--></a>`), 'too_large')
  t.end()
})
