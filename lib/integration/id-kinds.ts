/**
 * The kinds of resources that ids are of, so that a refusal of an id of the wrong kind can say what it is: `This is the
 * id
 * of a balance.` Kinds are told of the caller's own resources alone; an id of another tenant stays unknown. Pure.
 */
import type { Problem } from '../base/problems.ts'

/** The kinds in words. A payment and its transaction have the same id. */
export const ID_KINDS = {
  balance: 'a balance',
  recipient: 'a recipient',
  payment: 'a payment',
  transfer: 'a transfer',
  exchange: 'an exchange',
  quote: 'a quote',
  scheduled_payment: 'a scheduled payment',
  bulk_payment: 'a bulk payment',
  incoming_payment: 'an incoming payment',
  incoming_debit: 'an incoming debit',
  card: 'a card',
  card_transaction: 'a card transaction',
  mandate: 'a mandate',
  collection: 'a collection',
  funds_request: 'a funds request',
  approval: 'an approval',
  document: 'a document',
  statement: 'a statement',
  job: 'a job',
  transaction: 'a transaction',
  customer: 'a customer',
} as const
export type IdKind = keyof typeof ID_KINDS

/** The kinds that each id is of; an id of no kind is absent. */
export type KindsOfIds = ReadonlyMap<string, readonly IdKind[]>

/** The parts of a request that hold ids. */
export interface RequestIds {
  /** Parameters of the path by their names. */
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

// A longer name goes first: `incomingPaymentId` is not the id of a payment.
const WANTED = (Object.keys(ID_KINDS) as IdKind[])
  .map((kind) => ({ kind, ending: `${kind.replaceAll('_', '')}id` }))
  .sort((left, right) => right.ending.length - left.ending.length)

/** Returns the kind that a field or parameter wants, by its name: `sourceBalanceId` wants a balance. Null: unknown. */
export function wantedKind(name: string): IdKind | null {
  const plain = name.toLowerCase().replace(/ids$/, 'id')
  return WANTED.find(({ ending }) => plain.endsWith(ending))?.kind ?? null
}

/** A fault of a field, as problems and the check of a payment tell of it. */
interface Fault {
  readonly field: string | null
  readonly code: string
  readonly message: string
}

/** The refusal that names the ids. */
interface Refusal {
  readonly slug: Problem['slug']
  readonly errors?: readonly Fault[] | undefined
}

/** An id that was refused: that of a field with the fault at `error`, or a parameter of the path. */
interface RefusedId {
  readonly id: string
  readonly name: string
  readonly error: number | null
}

const wordsOf = (pointer: string): readonly string[] => pointer.split('/').slice(1)

function valueAt(body: unknown, pointer: string): unknown {
  return wordsOf(pointer).reduce<unknown>(
    (value, word) => (typeof value === 'object' && value !== null ? Reflect.get(value, word) : undefined),
    body,
  )
}

function refusedIds({ slug, errors }: Refusal, { params, body }: RequestIds): RefusedId[] {
  const ids: { readonly id: unknown; readonly name: string; readonly error: number | null }[] =
    slug === 'not-found'
      ? Object.entries(params).map(([name, id]) => ({ id, name, error: null }))
      : (errors ?? []).flatMap(({ field, code }, error) =>
          code === 'not_found' && field?.startsWith('/') === true
            ? [{ id: valueAt(body, field), name: wordsOf(field).findLast((word) => !/^\d+$/.test(word)) ?? '', error }]
            : [],
        )
  return ids.filter((each): each is RefusedId => typeof each.id === 'string' && UUID.test(each.id))
}

/** Returns the ids that a problem refuses because nothing has them; empty for any other problem. */
export const idsOf = (problem: Refusal, request: RequestIds): readonly string[] =>
  refusedIds(problem, request).map(({ id }) => id)

/** Returns the sentence about a refused id; null where its kind is the one that is wanted, or none. */
function sentenceOf({ id, name }: RefusedId, kinds: KindsOfIds): string | null {
  const found = kinds.get(id.toLowerCase()) ?? []
  const wanted = wantedKind(name)
  const [kind] = found
  return kind === undefined || (wanted !== null && found.includes(wanted))
    ? null
    : `This is the id of ${ID_KINDS[kind]}.`
}

/** Returns faults that say what the refused ids are. */
export function errorsWithKinds<Told extends Fault>(
  errors: readonly Told[],
  request: RequestIds,
  kinds: KindsOfIds,
): Told[] {
  const told = [...errors]
  for (const refused of refusedIds({ slug: 'validation-error', errors }, request)) {
    const sentence = sentenceOf(refused, kinds)
    const fault = told[refused.error as number] as Told
    if (sentence !== null) told[refused.error as number] = { ...fault, message: `${fault.message} ${sentence}` }
  }
  return told
}

/** Returns the problem with what its refused ids are. */
export function problemWithKinds(problem: Problem, request: RequestIds, kinds: KindsOfIds): Problem {
  const { errors, detail } = problem
  if (problem.slug === 'not-found') {
    const sentence = refusedIds(problem, request)
      .map((refused) => sentenceOf(refused, kinds))
      .find((found) => found !== null)
    return sentence === undefined ? problem : { ...problem, detail: `${detail} ${sentence}` }
  }
  if (errors === undefined) return problem
  const told = errorsWithKinds(errors, request, kinds)
  return { ...problem, detail: detail === errors[0]?.message ? (told[0]?.message ?? detail) : detail, errors: told }
}
