/** Joins the effects of two decisions into one commit. */
import type { Effects } from './effects.ts'

/** Returns the effects of both. @throws when both bring an idempotency record, because a command has only one */
export function together(one: Effects, other: Effects): Effects {
  const merged: Record<string, unknown> = { ...one }
  for (const [member, rows] of Object.entries(other)) {
    if (rows === undefined) continue
    const known = merged[member]
    if (known === undefined) merged[member] = rows
    else if (Array.isArray(known) && Array.isArray(rows))
      merged[member] = [...(known as unknown[]), ...(rows as unknown[])]
    else throw new Error(`Two decisions in one commit both bring ${member}.`)
  }
  return merged as Effects
}
