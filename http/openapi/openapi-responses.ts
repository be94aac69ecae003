/**
 * Answers that several operations share, once in the document. Nine tenths of the document were problems that nearly
 * every operation can answer with: 2.7 MB with them in place, 1 MB with references, and tools that resolve the whole
 * document, as the interactive reference does, take as much less time.
 */
import type { Json } from './openapi-components.ts'

/** Slugs in the name of an answer; an answer with more is named after the first. */
const NAMED_SLUGS_MAX = 3

/**
 * Replaces each problem and each 304 that occurs more than once by a reference, in place.
 *
 * @returns the `components.responses`
 */
export function shareResponses(paths: Readonly<Record<string, Json>>): Json {
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as Json[])
  const uses = new Map<string, number>()
  for (const { responses } of operations)
    for (const response of Object.values(responses as Json)) {
      const text = JSON.stringify(response)
      uses.set(text, (uses.get(text) ?? 0) + 1)
    }
  const shared: Json = {}
  const references = new Map<string, Json>()
  for (const { responses } of operations)
    for (const [status, response] of Object.entries(responses as Json)) {
      const text = JSON.stringify(response)
      const slugs = status === '304' ? ['not-modified'] : slugsOf(response as Json)
      if (uses.get(text) === 1 || slugs === null) continue
      let reference = references.get(text)
      if (reference === undefined) {
        const name = freeName(shared, slugs)
        shared[name] = response
        reference = { $ref: `#/components/responses/${name}` }
        references.set(text, reference)
      }
      ;(responses as Json)[status] = reference
    }
  return shared
}

/** Returns the slugs of a problem's examples; null for another answer. */
function slugsOf({ content }: Json): string[] | null {
  const problem = (content as Json | undefined)?.['application/problem+json'] as Json | undefined
  return problem === undefined ? null : Object.keys(problem['examples'] as Json)
}

/** The same problems with other headers, or with others that the name leaves out, get the next number. */
function freeName(taken: Json, slugs: readonly string[]): string {
  const words = slugs.map((slug) => slug.replace(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase()))
  const name = words.length <= NAMED_SLUGS_MAX ? words.join('Or') : `${words[0]}OrOther`
  for (let nth = 1; ; nth++) {
    const numbered = nth === 1 ? name : `${name}${nth}`
    if (!(numbered in taken)) return numbered
  }
}
