/**
 * The enumerations of the contract against those of the product's schemas, in both directions, and each value against
 * what makes it.
 */
import t from 'tap'
import { routes } from '../../http/server/routes.ts'
import { CONTRACT_ENUMERATIONS } from './data/enumerations.ts'
import { onlyKnown, onlyKnownBeyond } from './known.ts'
import { OF_TABLES, UNTITLED } from './product-enumerations.ts'
import { sourcesOf } from './sources.ts'

/** The enumerations in the schemas of all routes, by their titles. */
function titledOf(node: unknown, found: Map<string, Set<string>>, seen: Set<unknown>): void {
  if (typeof node !== 'object' || node === null || seen.has(node)) return
  seen.add(node)
  const { title, enum: values } = node as { readonly title?: unknown; readonly enum?: unknown }
  if (typeof title === 'string' && Array.isArray(values))
    found.set(title, new Set([...(found.get(title) ?? []), ...(values as string[])]))
  for (const child of Object.values(node)) titledOf(child, found, seen)
}

const titled = new Map<string, Set<string>>()
const seen = new Set<unknown>()
for (const { success, body, form, query, list } of routes)
  titledOf({ schema: success.schema, body, form, query, list }, titled, seen)

/** The enumerations that clients choose from: their values are reached by sending them. */
const chosen = new Map<string, Set<string>>()
const seenInRequests = new Set<unknown>()
for (const { body, form } of routes) titledOf({ body, form }, chosen, seenInRequests)

/** The values that the product has for an enumeration of the contract; null: it has none. */
const valuesOf = (name: string): ReadonlySet<string> | null => {
  const untitled = UNTITLED[name]
  return titled.get(name) ?? (untitled === undefined ? null : new Set(untitled))
}

t.test('each enumeration has the values of the contract, and no others', async (t) => {
  const missing: string[] = []
  const beyond: string[] = []
  let cells = 0
  for (const [name, values] of CONTRACT_ENUMERATIONS) {
    const has = valuesOf(name)
    if (has === null) {
      missing.push(name)
      continue
    }
    cells += values.length
    for (const value of values) if (!has.has(value)) missing.push(`${name} ${value}`)
    for (const value of has) if (!values.includes(value)) beyond.push(`${name} ${value}`)
  }
  const known = new Set([...CONTRACT_ENUMERATIONS.keys()])
  t.comment(
    `${cells} values; enumerations of the product alone: ${[...titled.keys()].filter((name) => !known.has(name)).join(', ')}`,
  )
  for (const name of Object.keys(UNTITLED)) t.notOk(titled.has(name), `${name} has no title in a schema`)
  onlyKnownBeyond(t, 'enumerations', beyond)
  onlyKnown(t, 'enumerations', [...missing, ...(await unmade())])
})

/** Where a list of values is declared; a value that stands nowhere else is made by nothing. */
const LISTED = /(?:Words\(\s*'\w+',|\b[A-Z_]+ =|values:|enum:)\s*\[[^\]]*\]|export type \w+ =[^;{}]*?(?=\n\n)/g

/**
 * The values that nothing of the product makes: no client chooses them, no table has a row for them, and no source has
 * them as a value. The name of a member is no value.
 */
async function unmade(): Promise<string[]> {
  const sources = await sourcesOf(['lib', 'storage', 'actors', 'workers', 'http'])
  const text = sources
    .filter(({ path }) => !path.startsWith('http/openapi/'))
    .map(({ text }) => text.replaceAll(LISTED, ''))
    .join('\n')
  const found: string[] = []
  for (const [name, values] of CONTRACT_ENUMERATIONS) {
    const has = valuesOf(name)
    for (const value of values) {
      if (has?.has(value) !== true || chosen.get(name)?.has(value) === true || OF_TABLES[name]?.has(value) === true)
        continue
      if (!new RegExp(`['"\`]${value.replace('.', '\\.')}['"\`](?!:)`).test(text))
        found.push(`${name} ${value} is made by nothing`)
    }
  }
  return found
}
