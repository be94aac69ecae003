/**
 * The rules of an ISO 20022 schema, as data: for each element its children in their order, how often each may occur,
 * and the form of its text. The XML reader here supports only elements, attributes and text, which is enough.
 */

/** Children in order, with the minimum and maximum number of each. */
interface Composite {
  readonly kind: 'sequence'
  readonly children: readonly (readonly [name: string, min: number, max: number, type: string])[]
}
interface Choice {
  readonly kind: 'choice'
  readonly children: readonly (readonly [name: string, type: string])[]
}
interface Simple {
  readonly kind: 'text'
  readonly pattern: RegExp
  readonly attribute?: string
}
export type Rule = Composite | Choice | Simple

export const MANY = Number.POSITIVE_INFINITY
const text = (min: number, max: number): Simple => ({ kind: 'text', pattern: new RegExp(`^[^]{${min},${max}}$`, 'u') })
export const pattern = (source: RegExp): Simple => ({ kind: 'text', pattern: source })
export const sequence = (...children: Composite['children']): Composite => ({ kind: 'sequence', children })
const TIMES: Readonly<Record<string, readonly [number, number]>> = {
  '': [1, 1],
  '?': [0, 1],
  '*': [0, MANY],
  '+': [1, MANY],
}
/**
 * A sequence as one text: `Name` once, `Name?` at most once, `Name*` any number, `Name+` at least once, `Name[0-7]` a
 * number between, each followed by `:Type` where the type has another name.
 */
export const members = (list: string): Composite =>
  sequence(
    ...list.split(/\s+/).map((member) => {
      const [, name, times, min, max, type] = /^(\w+)([?*+]|\[(\d+)-(\d+)\])?(?::(\w+))?$/.exec(member) ?? []
      if (name === undefined) throw new Error(`${member} is no member.`)
      const [least, most] = min === undefined ? TIMES[times ?? '']! : [Number(min), Number(max)]
      return [name, least!, most!, type ?? name] as const
    }),
  )
/** A choice as one text, as `members`. */
export const oneOf = (list: string): Choice =>
  choice(...list.split(/\s+/).map((member) => [member.split(':')[0]!, member.split(':').at(-1)!] as const))
export const choice = (...children: Choice['children']): Choice => ({ kind: 'choice', children })

/** The text types that the schemas have in common. */
export const TEXTS: Readonly<Record<string, Rule>> = {
  Max4: text(1, 4),
  Max5: text(1, 5),
  Max16: text(1, 16),
  Max34: text(1, 34),
  Max35: text(1, 35),
  Max70: text(1, 70),
  Max105: text(1, 105),
  Max140: text(1, 140),
  Max500: text(1, 500),
  Max5Numeric: pattern(/^[0-9]{1,5}$/),
  Max15Numeric: pattern(/^[0-9]{1,15}$/),
  Number: pattern(/^[0-9]{1,18}$/),
  Boolean: pattern(/^(true|false)$/),
  Date: pattern(/^\d{4}-\d\d-\d\d$/),
  DateTime: pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/),
  Currency: pattern(/^[A-Z]{3}$/),
  Code4: pattern(/^[A-Z]{4}$/),
  Country: pattern(/^[A-Z]{2}$/),
  UUIDv4: pattern(/^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/),
  IBAN: pattern(/^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$/),
  BIC: pattern(/^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/),
  Decimal: pattern(/^(?=(?:\D*\d){1,18}\D*$)\d+(\.\d{1,17})?$/),
  Amount: { kind: 'text', pattern: /^(?=(?:\D*\d){1,18}\D*$)\d+(\.\d{1,5})?$/, attribute: 'Ccy' },
}

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  text: string
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/**
 * Parses elements, attributes and text; a statement may contain nothing else.
 *
 * @throws Error with the place of the fault
 */
export function parse(xml: string): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [top]
  const tokens = /<\?xml[^>]*\?>|<(\/?)([A-Za-z0-9]+)((?: [A-Za-z]+="[^"<]*")*)>|([^<]+)/gy
  let at = 0
  for (;;) {
    tokens.lastIndex = at
    const token = tokens.exec(xml)
    if (token === null) break
    at = tokens.lastIndex
    const [, closes, name, attributes, plain] = token
    const inner = open.at(-1)!
    if (plain !== undefined) {
      if (/&(?!(amp|lt|gt|quot);)/.test(plain)) throw new Error(`an ampersand in ${plain}`)
      inner.text += plain.replace(/&(\w+);/g, (_, entity: string) => ENTITIES[entity] as string)
    } else if (name !== undefined && closes === '/') {
      if (inner.name !== name) throw new Error(`</${name}> closes <${inner.name}>`)
      open.pop()
    } else if (name !== undefined) {
      const element: Element = {
        name,
        attributes: Object.fromEntries(
          Array.from((attributes ?? '').matchAll(/ ([A-Za-z]+)="([^"]*)"/g), ([, key, value]) => [key, value]),
        ),
        children: [],
        text: '',
      }
      inner.children.push(element)
      open.push(element)
    }
  }
  if (at !== xml.length) throw new Error(`no XML at ${xml.slice(at, at + 40)}`)
  if (open.length !== 1 || top.children.length !== 1) throw new Error('not one element')
  return top.children[0]!
}

function check(
  rules: Readonly<Record<string, Rule>>,
  element: Element,
  type: string,
  path: string,
  broken: string[],
): void {
  const rule = rules[type]
  if (rule === undefined) throw new Error(`There is no rule ${type}.`)
  const here = `${path}/${element.name}`
  if (rule.kind === 'text') {
    if (element.children.length > 0) broken.push(`${here} has elements`)
    if (!rule.pattern.test(element.text)) broken.push(`${here} says ${element.text}`)
    const allowed = rule.attribute === undefined ? [] : [rule.attribute]
    if (Object.keys(element.attributes).join() !== allowed.join())
      broken.push(`${here} has the attributes ${Object.keys(element.attributes).join()}`)
    return
  }
  if (element.text.trim() !== '') broken.push(`${here} has text`)
  if (rule.kind === 'choice') {
    const [only] = element.children
    const found = rule.children.find(([name]) => name === only?.name)
    if (element.children.length !== 1 || found === undefined)
      broken.push(`${here} is one of ${rule.children.map(([name]) => name).join()}`)
    else check(rules, only!, found[1], here, broken)
    return
  }
  let at = 0
  for (const [name, min, max, childType] of rule.children) {
    let count = 0
    for (; element.children[at]?.name === name; at++, count++)
      check(rules, element.children[at]!, childType, here, broken)
    if (count < min || count > max) broken.push(`${here} has ${count} ${name}`)
  }
  if (at < element.children.length) broken.push(`${here} has ${element.children[at]!.name} where it may not be`)
}

/** Lists the violations of a schema in a document; empty when it is valid. @throws Error when it is not XML */
export function schemaErrors(xml: string, namespace: string, rules: Readonly<Record<string, Rule>>): string[] {
  const document = parse(xml)
  const broken: string[] = []
  if (document.attributes['xmlns'] !== namespace) broken.push('another namespace')
  check({ ...TEXTS, ...rules }, document, document.name === 'Document' ? 'Document' : '', '', broken)
  return broken
}
