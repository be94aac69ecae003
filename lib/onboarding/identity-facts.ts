/** The facts of a case by which a provider identifies the customer and its persons. Pure. */

/** Facts that identify neither a person nor a company: a review stands when they change. */
const OTHER_FACTS: ReadonlySet<string> = new Set(['email', 'phone', 'website', 'occupation', 'industryCode'])

/** Whether two versions of a person or a company differ in facts that identify it; a fact that is absent is null. */
export function identityDiffers(before: object | null, after: object | null): boolean {
  const [was, is] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))]
  return [...new Set([...was.keys(), ...is.keys()])].some(
    (name) => !OTHER_FACTS.has(name) && differs(was.get(name) ?? null, is.get(name) ?? null),
  )
}

/** An address is an object, whose members come in any order. */
const differs = (was: unknown, is: unknown): boolean =>
  typeof was === 'object' && typeof is === 'object' ? identityDiffers(was, is) : was !== is
