/**
 * The requesters of a subject that needs approval, and the approvals that count. Pure.
 *
 * The requesters are all people and keys that shaped the subject's terms since it was made: its creator, the editors of
 * its schedule, draft or file, the editors of its recipient's account since then, and its submitter. Unless the tier
 * allows self-approval, no requester decides. A person who made an API key has its secret, so the terms that a key
 * shaped count as shaped by that person as well (NOT_OWN in storage/approvals/approvals.ts).
 */

/** A person or key that changed the terms, with the time of its last change in epoch milliseconds. */
export interface Editor {
  readonly id: string
  readonly at: number
}

/** Adds an editor, or moves the time of one that is already listed. */
export function withEditor(editors: readonly Editor[], id: string, at: number): readonly Editor[] {
  return [...editors.filter((editor) => editor.id !== id), { id, at }]
}

/** Returns the ids of the editors that made a change at or after `since`, epoch milliseconds. */
export function editorsSince(editors: readonly Editor[], since: number): readonly string[] {
  return editors.filter(({ at }) => at >= since).map(({ id }) => id)
}

/** Joins lists of ids; each id appears once. */
export function requestersOf(...shapers: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(shapers.flat())]
}

/** An approval that a person gave. */
export interface GivenApproval {
  readonly decisionId: string
  /**
   * Whether the approver could still give the approval now: an active member, admitted by the tier, and no requester
   * unless the tier allows self-approval.
   */
  readonly stands: boolean
  readonly teamIds: readonly string[]
}

/**
 * Selects the approvals that count, in the order in which they were given. Where teams must differ, only the first
 * approval of each team counts.
 *
 * @returns the ids of their decisions
 */
export function approvalsThatCount(
  given: readonly GivenApproval[],
  { distinctTeams }: { readonly distinctTeams: boolean },
): readonly string[] {
  const used = new Set<string>()
  const counted: string[] = []
  for (const { decisionId, stands, teamIds } of given) {
    if (!stands || (distinctTeams && teamIds.some((id) => used.has(id)))) continue
    for (const id of teamIds) used.add(id)
    counted.push(decisionId)
  }
  return counted
}
