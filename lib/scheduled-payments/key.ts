/** The keys under which the payments of a schedule are decided. */
import { hash } from 'node:crypto'
import type { CommandKey } from '../balances/decision.ts'

/**
 * Makes the key of one occurrence: every request for its payment has the same key. The key depends only on the
 * occurrence, so a change of the schedule's terms in between does not make another request of it.
 */
export function occurrenceKey(scheduleId: string, number: number): CommandKey {
  const text = `scheduled_payment ${scheduleId} ${number}`
  return { id: digest(`${text} id`), fingerprint: digest(`${text} content`) }
}

/** Returns the first 128 bits of the SHA-256 in the form of a UUID. */
function digest(text: string): string {
  const hex = hash('sha256', text, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
