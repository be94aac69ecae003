/** Lists as declarations: the filters, sorts and searches of a list, and the parsed query that results from them. */
import type { Tenant } from '../commands/caller.ts'

/**
 * A single filter. `words`, `ids` and `text` take several values separated by commas; a row matches if any of them
 * matches.
 */
export type Filter =
  | { readonly kind: 'words'; readonly values: readonly string[]; readonly default?: readonly string[] }
  | { readonly kind: 'ids'; readonly operatorOnly?: true }
  | { readonly kind: 'text'; readonly max: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'amountFrom' | 'amountTo'; readonly oneCurrency?: true }
  | { readonly kind: 'dateFrom' | 'dateTo' }
  | { readonly kind: 'timeFrom' | 'timeTo' }

/** The parsed value of a filter. */
export type FilterValue<F extends Filter> = F extends { kind: 'words' | 'ids' | 'text' }
  ? readonly string[]
  : F extends { kind: 'boolean' }
    ? boolean
    : F extends { kind: 'integer' }
      ? number
      : /** Minor units, both ends included. */
        F extends { kind: 'amountFrom' | 'amountTo' }
        ? bigint
        : /** Both ends included, `YYYY-MM-DD`. */
          F extends { kind: 'dateFrom' | 'dateTo' }
          ? string
          : /** The first instant that matches, RFC 3339 in UTC. */
            F extends { kind: 'timeFrom' }
            ? string
            : /**
               * The first instant that no longer matches: clients send an inclusive end, storage compares with an
               * exclusive one.
               */
              F extends { kind: 'timeTo' }
              ? { readonly before: string }
              : never

export interface ListDeclaration {
  readonly filters: Readonly<Record<string, Filter>>
  /** The first sort is the default; a leading `-` means descending. */
  readonly sorts: readonly [string, ...string[]]
  /** Whether free text search is offered. */
  readonly q?: boolean
  /** Whether `filter[metadata.<key>]` is offered. */
  readonly metadata?: boolean
}

/** The largest `olderThanHours` of the queues of staff: ten years, in hours. */
export const OLDER_THAN_HOURS_MAX = 87_600

/** Declares a list; keeps the literal types, so that handlers know their filters by name. */
export function list<const Declaration extends ListDeclaration>(declaration: Declaration): Declaration {
  return declaration
}

/** A value of a keyset: the sort column or the id of the row at the edge of a page, as storage wrote it. */
export type CursorKey = string | number | null

/** The position at which a page begins. */
export interface Position {
  readonly direction: 'after' | 'before'
  readonly keys: readonly CursorKey[]
}

/** A parsed list query, by its filters and sorts. */
export interface RowQuery<Filters, Sort extends string> {
  readonly tenant: Tenant
  readonly filters: Filters
  /** Attributes that must match exactly; all of them must match. */
  readonly metadata: readonly (readonly [key: string, value: string])[]
  readonly sort: Sort
  readonly limit: number
  /** Null on the first page. */
  readonly position: Position | null
  readonly withTotal: boolean
  readonly q: string | null
}

/** The parsed query of a declared list. */
export type ListQuery<List> = RowQuery<
  List extends ListDeclaration
    ? { readonly [Name in keyof List['filters']]?: FilterValue<List['filters'][Name]> }
    : never,
  List extends ListDeclaration ? List['sorts'][number] : never
>

/** A page of rows in display order, also when the client paged backwards. */
export interface ListResult<Row> {
  readonly rows: readonly Row[]
  /** The keyset of each row, in the same order; only the first and the last are used. */
  readonly keys: readonly (readonly CursorKey[])[]
  /** Whether more rows follow in the requested direction. */
  readonly hasMore: boolean
  readonly total?: number
}
