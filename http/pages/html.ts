/**
 * HTML made by templates. Values are escaped unless they are HTML themselves, and a template that places a value where
 * escaping does not help cannot be rendered: values stand in text or in quoted attributes, never in scripts, styles,
 * handlers of events or names of tags.
 */
import assert from 'node:assert'

/** A value that a template takes. Null and false add nothing. */
export type HtmlValue = Html | string | number | null | false | readonly HtmlValue[]

/** Text that is HTML. Only the tag `html` makes it. */
class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
export type { Html }

type Place = 'text' | 'tag' | 'attribute'

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** Attributes whose values are code, which escaping does not make safe. */
const CODE_ATTRIBUTE = /\s(?:on\w+|style|srcdoc)\s*=\s*"[^"]*$/i
const ADDRESS_ATTRIBUTE = /\s(?:href|src|action|formaction)\s*=\s*"$/i
/** Addresses on this service, on the page, of another https page, and of pictures in the page itself. */
const SAFE_ADDRESS = /^(?:\/(?![/\\])|#|https?:\/\/|data:image\/(?:png|jpeg|gif|webp|svg\+xml);)/
const CODE_ELEMENT = /<(script|style)\b(?![\s\S]*<\/\1>)/i

interface Hole {
  readonly place: Place
  readonly isAddress: boolean
}

/** The holes of a template, by its strings: the same object at each use of one template. */
const known = new WeakMap<TemplateStringsArray, readonly Hole[]>()

/** Builds HTML. @throws AssertionError for a template that places a value where it cannot be escaped */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let holes = known.get(strings)
  if (holes === undefined) {
    holes = holesOf(strings)
    known.set(strings, holes)
  }
  let text = strings[0] as string
  for (const [index, value] of values.entries()) text += written(value, holes[index] as Hole) + strings[index + 1]
  return new Html(text)
}

/** Escapes text for HTML, in an element or a quoted attribute. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPED[character] as string)

/** A style sheet in the page. Its text is code of this service, so it is not escaped. */
export function styleElement(text: string): Html {
  assert(!text.includes('<'), 'a style has no tags')
  return new Html(`<style>${text}</style>`)
}

function written(value: HtmlValue, hole: Hole): string {
  if (value === null || value === false) return ''
  if (value instanceof Html) {
    assert(hole.place !== 'attribute', 'HTML does not stand in an attribute')
    return value.text
  }
  if (typeof value === 'string' || typeof value === 'number') {
    assert(hole.place !== 'tag', 'text does not stand among the attributes of a tag')
    const text = `${value}`
    assert(!hole.isAddress || SAFE_ADDRESS.test(text), 'the address of a link, picture or form begins in a safe way')
    return escaped(text)
  }
  return value.map((each) => written(each, hole)).join('')
}

/** Finds where the values of a template stand. */
function holesOf(strings: TemplateStringsArray): Hole[] {
  let before = ''
  return strings.slice(0, -1).map((text) => {
    before += text
    const place = placeAfter(before)
    assert(place !== 'text' || !CODE_ELEMENT.test(before), 'no value stands in a script or a style')
    assert(!/<\/?$/.test(before), 'no value is the name of a tag')
    assert(place !== 'attribute' || !CODE_ATTRIBUTE.test(before), 'no value stands in an attribute that is code')
    return { place, isAddress: ADDRESS_ATTRIBUTE.test(before) }
  })
}

/** Returns where a value that follows the text stands. @throws AssertionError in an attribute without quotes */
function placeAfter(text: string): Place {
  const tag = text.slice(text.lastIndexOf('>') + 1)
  if (!tag.includes('<')) return 'text'
  if ((tag.split('"').length - 1) % 2 === 1) return 'attribute'
  assert(!/=\s*$/.test(tag), 'attributes stand in double quotes')
  return 'tag'
}
