/** The sandbox's own approver: it decides when a word in the subject of an approval tells it to. */
import type { SandboxDecision } from '../approvals/opening.ts'
import { sandboxTokens } from './triggers.ts'

/** The decision that `SBX:APPROVE` or `SBX:REJECT` in one of the texts asks for; the first such token counts. Null without one. */
export function sandboxDecisionIn(texts: readonly string[]): SandboxDecision | null {
  const token = texts.flatMap(sandboxTokens).find((code) => code === 'APPROVE' || code === 'REJECT')
  return token === undefined ? null : token === 'APPROVE' ? 'approved' : 'rejected'
}
