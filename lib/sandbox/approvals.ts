/** The sandbox's approver: it decides when a token in the subject of an approval tells it to. */
import type { SandboxDecision } from '../approvals/opening.ts'
import { sandboxTokens } from './triggers.ts'

/**
 * Returns the decision of `SBX:APPROVE` or `SBX:REJECT` in the texts; the first such token counts. Null without a
 * token.
 */
export function sandboxDecisionIn(texts: readonly string[]): SandboxDecision | null {
  const token = texts.flatMap(sandboxTokens).find((code) => code === 'APPROVE' || code === 'REJECT')
  return token === undefined ? null : token === 'APPROVE' ? 'approved' : 'rejected'
}
