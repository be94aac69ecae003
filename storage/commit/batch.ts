/** The rows of a commit, gathered from the effects of many turns, ready to be bound. */
import type { Effects } from '../../lib/decisions/effects.ts'
import type { SectionColumn } from './columns.ts'
import type { Batch, Fence, Gathering, Section, VersionFence } from './section.ts'
import type { CommitCommand, CommitTurn } from './turn.ts'

/** The sections of all nouns, in the order of the statement. */
export class Sections<C> {
  readonly all: readonly Section<never>[]
  readonly fences: readonly Fence<never, C>[]
  /** The sections that bring rows of effects, in the order in which the rows of a command are gathered. */
  readonly gatherings: readonly {
    readonly member: keyof Effects
    readonly gather: Gathering['gather']
    readonly index: number
  }[]
  /** The columns of each section. */
  readonly columns: readonly (readonly SectionColumn<never>[])[]
  readonly turnFences: readonly Fence<never, C>[]
  readonly #indexes: ReadonlyMap<Section<never>, number>

  /** @throws Error when two sections have one name, which is a bug */
  constructor(writes: readonly Section<never>[], fences: readonly Fence<never, C>[]) {
    this.all = [...writes, ...fences]
    this.fences = fences
    this.turnFences = fences.filter(({ turn }) => turn !== undefined)
    if (new Set(this.all.map(({ name }) => name)).size < this.all.length) throw new Error('Two sections have one name.')
    this.gatherings = this.all.flatMap(({ effect }, index) =>
      effect === undefined ? [] : { member: effect.member, gather: effect.gather, index },
    )
    this.columns = this.all.map(({ columns }) => columns)
    this.#indexes = new Map(this.all.map((part, index) => [part, index]))
  }

  /** Returns the place of a section. @throws Error when it is not listed, which is a bug */
  indexOf(part: Section<never>): number {
    const index = this.#indexes.get(part)
    if (index === undefined) throw new Error(`The section ${part.name} is not listed.`)
    return index
  }

  isFence(index: number): boolean {
    return index >= this.all.length - this.fences.length
  }
}

export class GatheredBatch<C> implements Batch {
  readonly commands: CommitCommand[] = []
  /** Conflicts of commands that change a row that an earlier command of this commit changes. */
  readonly late: C[] = []
  nth = 0
  decides: string | null = null
  readonly #sections: Sections<C>
  /** The rows of each section that has any; a map of them where the section is keyed. */
  readonly #rows: (unknown[] | Map<string, unknown> | undefined)[]
  #changed: Set<string> | undefined

  constructor(sections: Sections<C>) {
    this.#sections = sections
    this.#rows = new Array(sections.all.length).fill(undefined)
  }

  add<Row>(part: Section<Row>, row: Row): void {
    this.#listOf(this.#sections.indexOf(part)).push(row)
  }

  keyed<Row>(part: Section<Row>): Map<string, Row> {
    return (this.#rows[this.#sections.indexOf(part)] ??= new Map<string, Row>()) as Map<string, Row>
  }

  change(fence: VersionFence, id: string, version: number): void {
    this.#changed ??= new Set()
    if (this.#changed.has(id)) this.late.push(fence.conflict.of({ ...NOT_FOUND, nth: this.nth }, this.commands) as C)
    else this.#changed.add(id)
    this.add(fence, { turn: this.nth, id, version })
  }

  effects(effects: Effects): void {
    const { gatherings } = this.#sections
    for (let i = 0; i < gatherings.length; i++) {
      const { member, gather, index } = gatherings[i] as (typeof gatherings)[number]
      const rows = effects[member]
      if (rows === undefined) continue
      if (gather === null) {
        const gathered = this.#listOf(index)
        for (const row of rows as readonly unknown[]) gathered.push(row)
      } else if (Array.isArray(rows)) {
        for (const row of rows) gather(row as never, this)
      } else gather(rows as never, this)
    }
  }

  /** Gathers the effects of a turn's commands, and the turn's own fence. */
  turn({ commands, fence }: CommitTurn, index: number): void {
    this.decides = fence?.balanceId ?? null
    for (const command of commands) {
      this.nth = this.commands.push(command) - 1
      this.effects(command.effects)
    }
    if (fence !== null) for (const part of this.#sections.turnFences) part.turn?.(fence, index, this)
  }

  /** The rows of a section, in the order in which they are bound; undefined where it has none. */
  rowsAt(index: number): readonly unknown[] | undefined {
    const rows = this.#rows[index]
    if (rows === undefined || Array.isArray(rows)) return rows
    if (this.#sections.all[index]?.keyed !== 'sorted') return [...rows.values()]
    return [...rows].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row)
  }

  #listOf(index: number): unknown[] {
    return (this.#rows[index] ??= []) as unknown[]
  }
}

const NOT_FOUND = {
  fingerprint: null,
  resourceType: null,
  resourceId: null,
  status: null,
  answer: null,
  decidedAt: null,
}
