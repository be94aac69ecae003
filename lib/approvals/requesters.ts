/**
 * Who asked for what is approved, and which approvals count. Pure.
 *
 * The requesters of a subject are everyone who shaped its terms since it was made: its creator, the editors of its schedule,
 * draft or file, the editors of its recipient's account since then, and its submitter. Unless the tier allows self-approval,
 * none of them decides. A person who made an API key has its secret, so what a key shaped is shaped by that person as well
 * (NOT_OWN in storage/approvals/approvals.ts).
 */

/** A person or key who changed the terms of something; the time of the last change, epoch milliseconds. */
export interface Editor {
  readonly id: string
  readonly at: number
}

/** The editors after one more change. */
export function withEditor(editors: readonly Editor[], id: string, at: number): readonly Editor[] {
  return [...editors.filter((editor) => editor.id !== id), { id, at }]
}

/** The ids of those who made a change at or after a time, epoch milliseconds. */
export function editorsSince(editors: readonly Editor[], since: number): readonly string[] {
  return editors.filter(({ at }) => at >= since).map(({ id }) => id)
}

/** Everyone, each once. */
export function requestersOf(...shapers: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(shapers.flat())]
}

/** An approval that was given. */
export interface GivenApproval {
  readonly decisionId: string
  /** Whether its giver could still give it now: an active member, named by the tier, and no requester unless that is allowed. */
  readonly stands: boolean
  readonly teamIds: readonly string[]
}

/**
 * The approvals that count, of those that were given, in the order in which they were given. Where teams must differ, the
 * first of a team counts.
 *
 * @returns the ids of their decisions
 */
export function approvalsThatCount(given: readonly GivenApproval[], { distinctTeams }: { readonly distinctTeams: boolean }): readonly string[] {
  const used = new Set<string>()
  const counted: string[] = []
  for (const { decisionId, stands, teamIds } of given) {
    if (!stands || (distinctTeams && teamIds.some((id) => used.has(id)))) continue
    for (const id of teamIds) used.add(id)
    counted.push(decisionId)
  }
  return counted
}
