/** The pure moves of mandates and collections, by the triggers of the contract. */
import { NO_REQUEST } from '../../lib/balances/decision.ts'
import type { CollectionMove } from '../../lib/direct-debits/collection-moves.ts'
import { COLLECTION_STATUSES, type CollectionStatus } from '../../lib/direct-debits/collection.ts'
import { createCollection, createMandate } from '../../lib/direct-debits/create-debits.ts'
import { decideCollection, decideMandate } from '../../lib/direct-debits/debit-decision.ts'
import type { MandateMove } from '../../lib/direct-debits/mandate-moves.ts'
import { MANDATE_STATUSES, type MandateStatus } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import { collectionOf, CONTEXT, ids, mandateOf, NOW } from '../support/debit-samples.ts'
import { COLLECTION_MOVES, MANDATE_MOVES } from './data/other-moves.ts'
import type { Machine, Outcome } from './walk.ts'

// ── Mandates
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The move of a mandate, of a scheme that needs no lodging. */
const mandateMoves =
  (move: MandateMove) =>
  (state: string): Outcome | null => {
    if (state === 'none') return null
    const decided = decideMandate(
      mandateOf('sepa_dd_core', { status: state as MandateStatus }),
      { kind: 'move_mandate', move, pending: [], event: null, context: { ids, by: 'member' } },
      NOW,
    )
    return decided.reply.kind === 'moved' ? { to: decided.reply.mandate.status } : 'refused'
  }

const REASONLESS = { reason: null } as const

const MANDATES: Machine = {
  name: 'mandate',
  moves: MANDATE_MOVES,
  states: ['none', ...MANDATE_STATUSES],
  decide: {
    create(state) {
      if (state !== 'none') return null
      const { reply } = createMandate(
        null,
        {
          kind: 'create_mandate',
          mandate: mandateOf('sepa_dd_b2b'),
          notice: DEBIT_SCHEMES.sepa_dd_b2b.preNotification,
          refusal: null,
          key: null,
          problemRequest: NO_REQUEST,
          context: { ids, by: 'member' },
        },
        NOW,
      )
      return reply.kind === 'moved' ? { to: reply.mandate.status } : 'refused'
    },
    'signed, no lodging needed': mandateMoves({ kind: 'sign', signedAt: NOW }),
    lodge: mandateMoves({ kind: 'lodge', providerRef: null }),
    accepted: mandateMoves({ kind: 'activate', providerRef: null, signedAt: null }),
    refused: mandateMoves({ kind: 'fail', ...REASONLESS }),
    cancel: mandateMoves({ kind: 'cancel', ...REASONLESS }),
    "cancelled by the payer's bank": mandateMoves({ kind: 'payer_cancel', ...REASONLESS }),
    suspend: mandateMoves({ kind: 'suspend', ...REASONLESS }),
    reinstate: mandateMoves({ kind: 'reinstate', ...REASONLESS }),
    dormancy: mandateMoves({ kind: 'expire' }),
    'the one collection is collected'(state) {
      // The money counts whatever became of the mandate meanwhile, which then stays as it is.
      if (state !== 'active') return null
      const { state: after } = decideCollection(
        mandateOf('sepa_dd_core', { status: 'active', sequenceType: 'one_off', submittedCount: 1, presentedCount: 1 }),
        {
          kind: 'move_collection',
          collection: collectionOf('sepa_dd_core', { status: 'submitted' }),
          move: { kind: 'collect', providerRef: null, refundableUntil: null },
          pending: [],
          event: null,
          context: CONTEXT,
        },
        NOW,
      )
      return { to: after?.status ?? 'none' }
    },
    'account changes': mandateMoves({ kind: 'amend', counterparty: { iban: 'NL77SBOX0100000001' }, ...REASONLESS }),
  },
}

// ── Collections
// ───────────────────────────────────────────────────────────────────────────────────────────────────────

const AMOUNT = collectionOf('sepa_dd_core').amount

const collectionMoves =
  (move: CollectionMove, isAsked: (state: string) => boolean = (state) => state !== 'exception') =>
  (state: string): Outcome | null => {
    if (state === 'none' || !isAsked(state)) return null
    const { reply } = decideCollection(
      mandateOf('sepa_dd_core', { status: 'active', pendingCount: 1, submittedCount: 1, presentedCount: 1 }),
      {
        kind: 'move_collection',
        collection: collectionOf('sepa_dd_core', {
          status: state as CollectionStatus,
          returnedAmount: state === 'returned' ? AMOUNT : 0n,
        }),
        move,
        pending: [],
        event: null,
        context: CONTEXT,
      },
      NOW,
    )
    return reply.kind === 'moved' && reply.collection !== null ? { to: reply.collection.status } : 'refused'
  }
const inException = (state: string): boolean => state === 'exception'

const FAIL: CollectionMove = { kind: 'fail', reasonCode: 'AM04', rType: 'reject', retryAt: null }
const COLLECT: CollectionMove = { kind: 'collect', providerRef: null, refundableUntil: null }
const RETURN: CollectionMove = {
  kind: 'return',
  reasonCode: 'AM04',
  rType: 'return',
  amount: AMOUNT,
  fee: 0n,
  retryAt: null,
  challengeUntil: null,
}

const COLLECTIONS: Machine = {
  name: 'collection',
  moves: COLLECTION_MOVES,
  states: ['none', ...COLLECTION_STATUSES],
  decide: {
    create(state) {
      if (state !== 'none') return null
      const mandate = mandateOf('sepa_dd_core', { status: 'active' })
      const { reply } = createCollection(
        mandate,
        {
          kind: 'create_collection',
          customerId: mandate.customerId,
          collection: collectionOf('sepa_dd_core'),
          fault: null,
          refusal: null,
          key: null,
          problemRequest: NO_REQUEST,
          context: { ids, by: 'member' },
        },
        NOW,
      )
      return reply.kind === 'moved' && reply.collection !== null ? { to: reply.collection.status } : 'refused'
    },
    cancel: collectionMoves({ kind: 'cancel', reason: null }, () => true),
    'cut-off': collectionMoves({ kind: 'submit', fileId: null, providerRef: null }, () => true),
    'mandate cancelled'(state) {
      // Those that are in clearing, or over, are none of the mandate's pending ones.
      if (state !== 'pending') return null
      const { effects } = decideMandate(
        mandateOf('sepa_dd_core', { status: 'active', pendingCount: 1, presentedCount: 1 }),
        {
          kind: 'move_mandate',
          move: { kind: 'cancel', reason: null },
          pending: [collectionOf('sepa_dd_core')],
          event: null,
          context: { ids, by: 'member' },
        },
        NOW,
      )
      return { to: effects?.collectionChanges?.[0]?.status ?? 'none' }
    },
    reject: collectionMoves(FAIL),
    credit: collectionMoves(COLLECT),
    return: collectionMoves(RETURN),
    reinstated: collectionMoves({ kind: 'reinstate', amount: AMOUNT, refundableUntil: null }, () => true),
    reverse: collectionMoves(
      { kind: 'reverse', id: ids.next(), reasonCode: 'DUPL', note: null, amount: AMOUNT },
      () => true,
    ),
    'no answer': collectionMoves({ kind: 'doubt', why: 'timeout' }, () => true),
    'reconciled as failed': collectionMoves(FAIL, inException),
    'reconciled as collected': collectionMoves(COLLECT, inException),
    'reconciled as returned': collectionMoves(RETURN, inException),
  },
}

export const DEBIT_MACHINES: readonly Machine[] = [MANDATES, COLLECTIONS]
