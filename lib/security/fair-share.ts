/**
 * Places that are shared fairly, by group and by member of a group: tenants and their keys, or addresses.
 *
 * Below its capacity every party gets a place. At capacity:
 *  * a group that holds less than its share (the capacity divided by the groups that hold places) still gets a place,
 *    so a group that holds more cannot keep others out;
 *  * within a group that has its share, a member that holds less than its part of it still gets a place.
 *
 * So more places than the capacity may be taken while earlier groups still hold theirs, but never more than `ceiling`.
 * Pure.
 */

/** The holder of a place. */
export interface Party {
  readonly group: string
  readonly member: string
}

/** A group may hold its share times this factor, so that each of its members can get a place. */
const GROUP_EXCESS = 1.5

interface Group {
  held: number
  /** Places by member; a member without places is not in the map. */
  readonly members: Map<string, number>
}

export class FairShare {
  readonly #groups = new Map<string, Group>()
  readonly #ceiling: number
  #held = 0

  /** `ceiling`: at this number of places every party is refused. */
  constructor(ceiling: number) {
    this.#ceiling = ceiling
  }

  /** Number of taken places. */
  get held(): number {
    return this.#held
  }

  /** Tells whether the party would be refused now. */
  refuses(capacity: number, { group, member }: Party): boolean {
    if (this.#held < capacity) return false
    if (this.#held >= this.#ceiling) return true
    const own = this.#groups.get(group)
    const groupShare = Math.floor(capacity / (this.#groups.size + (own === undefined ? 1 : 0)))
    const ownHeld = own?.held ?? 0
    if (ownHeld < groupShare) return false
    if (own === undefined || ownHeld >= groupShare * GROUP_EXCESS) return true
    const memberHeld = own.members.get(member) ?? 0
    return memberHeld >= Math.floor(groupShare / (own.members.size + (memberHeld === 0 ? 1 : 0)))
  }

  /** Takes a place without a check; `leave` gives it back. */
  enter({ group, member }: Party): void {
    this.#held += 1
    const own = this.#groups.get(group)
    if (own === undefined) {
      this.#groups.set(group, { held: 1, members: new Map([[member, 1]]) })
      return
    }
    own.held += 1
    own.members.set(member, (own.members.get(member) ?? 0) + 1)
  }

  /** Gives a place back. To be called once for each `enter`. */
  leave({ group, member }: Party): void {
    const own = this.#groups.get(group) as Group
    this.#held -= 1
    own.held -= 1
    if (own.held === 0) {
      this.#groups.delete(group)
      return
    }
    const rest = (own.members.get(member) as number) - 1
    if (rest === 0) own.members.delete(member)
    else own.members.set(member, rest)
  }
}
