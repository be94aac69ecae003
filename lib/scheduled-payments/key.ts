/** The keys under which the payments of a schedule are decided. */
import { hash } from 'node:crypto'
import type { CommandKey } from '../balances/decision.ts'

/**
 * The key of one occurrence: whoever asks for its payment, and however often, asks under the same one. What is asked is the
 * occurrence, so a change of the schedule's terms in between is no other question.
 */
export function occurrenceKey(scheduleId: string, number: number): CommandKey {
  const text = `scheduled_payment ${scheduleId} ${number}`
  return { id: digest(`${text} id`), fingerprint: digest(`${text} content`) }
}

/** The first 128 bits of the SHA-256, as the text of a UUID. */
function digest(text: string): string {
  const hex = hash('sha256', text, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
