/**
 * The sandbox's screening: hits by the tokens and amounts of the sandbox, and by a list of invented names.
 *
 * Names are compared by their words; order, case and accents do not matter.
 */
import { planOutcome } from './triggers.ts'
import type { Screener, ScreeningHit, ScreeningSubject } from '../compliance/screening.ts'

const PROVIDER = 'sandbox'
const TOKEN_LIST = 'SANDBOX-TRIGGERS'

/** All names are invented. */
const LISTED = [
  {
    list: 'SANDBOX-PERSONS',
    names: ['Viktor Sanctionov', 'Maria Embargo de la Lista', 'Ólafur Bannaður', 'Jane Listed Doe'],
  },
  {
    list: 'SANDBOX-ENTITIES',
    names: ['Frozen Assets Trading FZE', 'Embargo Shipping Lines Ltd', 'Listed Minerals Holding SA'],
  },
] as const

/** Returns the words of a name in sorted order. */
function wordsOf(name: string): string {
  const letters = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return (letters.match(/[\p{L}\p{N}]+/gu) ?? []).sort().join(' ')
}

const BY_WORDS = new Map(
  LISTED.flatMap(({ list, names }) => names.map((name) => [wordsOf(name), { list, name, score: 100 }] as const)),
)

function hitOf({ amount, reference, recipientName }: ScreeningSubject): ScreeningHit | null {
  // `instant` only changes the times of a plan, which are not used here.
  const { hold } = planOutcome({ amountMinor: amount, reference, recipientName, instant: false })
  const listed = BY_WORDS.get(wordsOf(recipientName))
  if (listed !== undefined) return { provider: PROVIDER, findings: [listed], decides: null }
  if (hold === null) return null
  const { decision } = hold
  return {
    provider: PROVIDER,
    findings: [{ list: TOKEN_LIST, name: recipientName, score: 100 }],
    decides: decision === null ? null : { decision: decision.outcome, afterMs: decision.afterMs },
  }
}

/** Screens by the rules of the sandbox; answers at once. */
export const sandboxScreener: Screener = {
  async screen(subjects) {
    const hits = new Map<string, ScreeningHit>()
    for (const subject of subjects) {
      const hit = hitOf(subject)
      if (hit !== null) hits.set(subject.id, hit)
    }
    return hits
  },
}
