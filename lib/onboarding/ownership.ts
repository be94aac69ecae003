/**
 * Who owns a customer: a graph of people and companies whose shares are exact. A share is a decimal of percent as text,
 * with up to four digits; along a chain shares are multiplied as fractions, so nothing is rounded before it is shown.
 */
import type { FieldError } from '../base/problems.ts'
import type { KybPersonRecord } from './kyb-person.ts'

/** A share as clients write it. */
export const SHARE_PATTERN = '^(0|[1-9][0-9]{0,2})(\\.[0-9]{1,4})?$'

/** 100 %, in ten-thousandths of a percent. */
const WHOLE = 1_000_000n
const DIGITS = 4

/** An exact share of the whole: `part` of 10^(6 × `steps`). */
export interface Share {
  readonly part: bigint
  readonly steps: number
}
const NONE: Share = { part: 0n, steps: 0 }

/** Reads a share, in ten-thousandths of a percent. */
function shareOf(text: string): bigint {
  const [whole = '0', decimals = ''] = text.split('.')
  return BigInt(whole) * 10n ** BigInt(DIGITS) + BigInt(decimals.padEnd(DIGITS, '0'))
}

const raised = ({ part, steps }: Share, to: number): bigint => part * WHOLE ** BigInt(to - steps)

function sum(a: Share, b: Share): Share {
  const steps = Math.max(a.steps, b.steps)
  return { part: raised(a, steps) + raised(b, steps), steps }
}

/** Whether a share is at least this percentage. */
export const isAtLeast = (share: Share, percent: bigint): boolean =>
  share.part * 100n >= percent * WHOLE ** BigInt(share.steps)

/** Writes a share as percent with up to four digits, rounded down. */
export function percentOf({ part, steps }: Share): string {
  const units = (part * WHOLE) / WHOLE ** BigInt(steps)
  const text = units.toString().padStart(DIGITS + 1, '0')
  const decimals = text.slice(-DIGITS).replace(/0+$/, '')
  return decimals === '' ? text.slice(0, -DIGITS) : `${text.slice(0, -DIGITS)}.${decimals}`
}

/** The share of an owner in an entity of the graph, or in the customer. */
type Owned = Pick<KybPersonRecord, 'id' | 'ownershipPercent' | 'ownedBy'>

/**
 * Computes the share of the customer that each person and company has: its direct share, and those through the
 * companies that it owns. The graph has no circle.
 */
export function sharesOf(persons: readonly Owned[]): ReadonlyMap<string, Share> {
  const owned = new Map<string, { readonly id: string; readonly share: bigint }[]>()
  for (const { id, ownedBy } of persons)
    for (const { ownerId, sharePercent } of ownedBy ?? []) {
      const list = owned.get(ownerId) ?? []
      owned.set(ownerId, list)
      list.push({ id, share: shareOf(sharePercent) })
    }
  const byId = new Map(persons.map((person) => [person.id, person]))
  const shares = new Map<string, Share>()
  function of(id: string): Share {
    const known = shares.get(id)
    if (known !== undefined) return known
    const direct = byId.get(id)?.ownershipPercent ?? null
    let total = direct === null ? NONE : { part: shareOf(direct), steps: 1 }
    for (const { id: company, share } of owned.get(id) ?? []) {
      const { part, steps } = of(company)
      total = sum(total, { part: part * share, steps: steps + 1 })
    }
    shares.set(id, total)
    return total
  }
  for (const { id } of persons) of(id)
  return shares
}

/**
 * Computes the share of the customer whose owners are not told: of the customer itself under null, of each company
 * under its id.
 */
export function hiddenShares(
  persons: readonly Pick<KybPersonRecord, 'id' | 'kind' | 'ownershipPercent' | 'ownedBy'>[],
): ReadonlyMap<string | null, Share> {
  const shares = sharesOf(persons)
  const direct = persons.reduce((total, { ownershipPercent: text }) => total + (text === null ? 0n : shareOf(text)), 0n)
  const hidden = new Map<string | null, Share>([[null, { part: WHOLE - direct, steps: 1 }]])
  for (const { id, kind, ownedBy } of persons) {
    if (kind !== 'company') continue
    const told = (ownedBy ?? []).reduce((total, { sharePercent }) => total + shareOf(sharePercent), 0n)
    const { part, steps } = shares.get(id) ?? NONE
    hidden.set(id, { part: part * (WHOLE - told), steps: steps + 1 })
  }
  return hidden
}

const fault = (field: string, code: FieldError['code'], message: string): FieldError => ({ field, code, message })

function shareFaults(field: string, text: string): FieldError[] {
  const share = shareOf(text)
  if (share === 0n) return [fault(field, 'too_small', 'Must be more than zero.')]
  return share > WHOLE ? [fault(field, 'too_large', 'Must be at most 100.')] : []
}

/** Whether `id` owns the entity, directly or through companies. */
function owns(byId: ReadonlyMap<string, Owned>, entity: string, id: string, seen: Set<string>): boolean {
  if (entity === id) return true
  if (seen.has(entity)) return false
  seen.add(entity)
  return (byId.get(entity)?.ownedBy ?? []).some(({ ownerId }) => owns(byId, ownerId, id, seen))
}

/**
 * Finds the faults that a new or changed person or company brings into the graph, by the fields of its body: unknown
 * owners, circles, and more than 100 % of a company or of the customer.
 *
 * @param persons all of the case, with the changed one in its new form
 */
export function ownershipFaults(persons: readonly Owned[], changedId: string): FieldError[] {
  const byId = new Map(persons.map((person) => [person.id, person]))
  const { ownershipPercent, ownedBy } = byId.get(changedId)!
  const errors: FieldError[] = []
  if (ownershipPercent !== null) {
    errors.push(...shareFaults('/ownershipPercent', ownershipPercent))
    const total = persons.reduce((all, { ownershipPercent: text }) => all + (text === null ? 0n : shareOf(text)), 0n)
    if (errors.length === 0 && total > WHOLE)
      errors.push(fault('/ownershipPercent', 'too_large', 'More than 100 % of the customer would be owned.'))
  }
  const owners = ownedBy ?? []
  owners.forEach(({ ownerId, sharePercent }, index) => {
    const field = `/ownedBy/${index}`
    errors.push(...shareFaults(`${field}/sharePercent`, sharePercent))
    if (!byId.has(ownerId)) errors.push(fault(`${field}/ownerId`, 'not_found', 'The case has no such person.'))
    else if (owners.findIndex((other) => other.ownerId === ownerId) < index)
      errors.push(fault(`${field}/ownerId`, 'invalid_value', 'Is named twice.'))
    else if (owns(byId, ownerId, changedId, new Set()))
      errors.push(fault(`${field}/ownerId`, 'invalid_value', 'Is owned by this company: the owners form a circle.'))
  })
  if (errors.length === 0 && owners.reduce((all, { sharePercent }) => all + shareOf(sharePercent), 0n) > WHOLE)
    errors.push(fault('/ownedBy', 'too_large', 'The shares are more than 100 %.'))
  return errors
}
