/** The problem types of the contract against the catalogue, in both directions, and each of them against its sources. */
import t from 'tap'
import { PROBLEMS, type ProblemSlug } from '../../lib/base/problems.ts'
import { CONTRACT_PROBLEMS } from './data/problem-types.ts'
import { onlyKnown, onlyKnownBeyond } from './known.ts'
import { sourcesOf } from './sources.ts'

t.test('the catalogue says what the contract says', (t) => {
  const missing: string[] = []
  for (const { slug, status, title, retryable } of CONTRACT_PROBLEMS) {
    const entry = PROBLEMS[slug as ProblemSlug]
    if (entry === undefined) {
      missing.push(slug)
      continue
    }
    t.strictSame({ ...entry }, { status, title, retryable }, slug)
  }
  const known = new Set(CONTRACT_PROBLEMS.map(({ slug }) => slug))
  onlyKnownBeyond(
    t,
    'problem-types',
    Object.keys(PROBLEMS).filter((slug) => !known.has(slug)),
  )
  t.strictSame(missing, [])
  t.end()
})

/** Texts that only declare which problems an operation has. */
const DECLARATIONS = /\bproblems: \[[^\]]*\]|readonly code: '[^']*'|const \w*PROBLEMS\w* = \[[^\]]*\]/g
/** The member of a problem document: written as a property, or as a shorthand. */
const member = (name: string): RegExp => new RegExp(`\\b${name}\\b`)

t.test('each problem is refused with somewhere, with its members', async (t) => {
  const sources = (await sourcesOf(['lib', 'storage', 'actors', 'http'])).filter(
    ({ path }) =>
      !['lib/base/problems.ts', 'lib/contract/problem.ts'].includes(path) && !path.startsWith('http/openapi/'),
  )
  const found: string[] = []
  for (const { slug, members } of CONTRACT_PROBLEMS) {
    const refusing = sources.filter(({ text }) => text.replaceAll(DECLARATIONS, '').includes(`'${slug}'`))
    if (refusing.length === 0) {
      found.push(`${slug} is never refused with`)
      continue
    }
    for (const name of members) {
      if (!refusing.some(({ text }) => member(name).test(text))) found.push(`${slug} has no ${name}`)
    }
  }
  onlyKnown(t, 'problem-types', found)
  t.end()
})
