/**
 * Places that are shared fairly, by group and by member of a group: tenants and their keys, or addresses.
 *
 * Below its capacity whoever comes gets a place. When that many are taken:
 *  * a group that holds less than its share (the capacity divided by the groups that hold places) still gets one, so a group
 *    that holds more keeps nobody out;
 *  * within a group that has its share, a member that holds less than its part of it still gets one.
 *
 * So more than the capacity may be taken while groups that came first still hold theirs; never more than `ceiling`. Pure.
 */

/** Whom a place is given to. */
export interface Party {
  readonly group: string
  readonly member: string
}

/** Of its share, what a group may hold so that its members have theirs. */
const GROUP_EXCESS = 1.5

interface Group {
  held: number
  /** Places by member; a member without any is not in it. */
  readonly members: Map<string, number>
}

export class FairShare {
  readonly #groups = new Map<string, Group>()
  readonly #ceiling: number
  #held = 0

  /** `ceiling`: places beyond which not even a party without any gets one. */
  constructor(ceiling: number) {
    this.#ceiling = ceiling
  }

  /** Places that are taken. */
  get held(): number { return this.#held }

  /** Whether the party would be refused now. */
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

  /** Takes a place, without asking whether there is one; `leave` gives it back. */
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
