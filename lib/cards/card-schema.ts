/** Cards and card transactions in the contract. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import {
  CountryCode,
  CurrencyCode,
  Money,
  Nullable,
  PositiveMoney,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { CARD_NETWORKS } from './authorisation-expiry.ts'
import { CARD_CHANNELS } from './card-limits.ts'
import { CARD_DECLINE_REASONS, CARD_PHASES, CARD_TRANSACTION_STATUSES } from './card-transaction.ts'
import { CARD_CLOSE_REASONS, CARD_STATUSES, CARD_TYPES } from './card.ts'
import { MERCHANT_CATEGORIES } from './merchant-categories.ts'

const LABEL_MAX = 60
const LISTED_MAX = 200
const PAYMENTS_MAX = 100_000
const CURRENCY_MAX = 3

const Category = Words('MerchantCategory', MERCHANT_CATEGORIES, 'A group of merchant category codes (ISO 18245).')
const Channel = Words('CardChannel', CARD_CHANNELS)
const Mcc = Type.String({ pattern: '^[0-9]{4}$', title: 'MerchantCategoryCode', examples: ['5411'] })

const LIMIT = Type.Optional(Nullable(PositiveMoney))
const limits = {
  perAuthorisation: LIMIT,
  day: LIMIT,
  week: LIMIT,
  month: LIMIT,
  year: LIMIT,
  lifetime: LIMIT,
}

/** The limits as they are set: all of them at once, an absent one means none. */
export const CardLimitsWrite = Type.Object(
  {
    ...limits,
    byCategory: Type.Optional(
      Type.Array(Type.Object({ category: Category, ...limits }, { additionalProperties: false }), {
        maxItems: MERCHANT_CATEGORIES.length,
      }),
    ),
  },
  {
    title: 'CardLimitsWrite',
    additionalProperties: false,
    description: 'In the currency of the card. Periods begin in the time zone of the customer, weeks on Monday.',
    examples: [{ perAuthorisation: { amountMinor: '50000', currency: 'EUR' } }],
  },
)
export type CardLimitsWrite = Static<typeof CardLimitsWrite>

/** The controls as they are set: all of them at once, an absent one allows everything. */
export const CardControlsWrite = Type.Object(
  {
    channels: Type.Optional(Type.Array(Channel, { uniqueItems: true, description: 'By default all.' })),
    allowedCategories: Type.Optional(Nullable(Type.Array(Category, { uniqueItems: true }))),
    blockedCategories: Type.Optional(Type.Array(Category, { uniqueItems: true })),
    blockedMccs: Type.Optional(Type.Array(Mcc, { uniqueItems: true, maxItems: LISTED_MAX })),
    allowedCountries: Type.Optional(Nullable(Type.Array(CountryCode, { uniqueItems: true, maxItems: LISTED_MAX }))),
    blockedCountries: Type.Optional(Type.Array(CountryCode, { uniqueItems: true, maxItems: LISTED_MAX })),
  },
  { title: 'CardControlsWrite', additionalProperties: false, examples: [{ blockedCategories: ['gambling'] }] },
)
export type CardControlsWrite = Static<typeof CardControlsWrite>

export const CardCreate = Type.Object(
  {
    balanceId: Uuid,
    holderUserId: Uuid,
    type: Words('CardType', CARD_TYPES),
    label: Type.Optional(Nullable(Text(1, LABEL_MAX))),
    limits: Type.Optional(CardLimitsWrite),
    controls: Type.Optional(CardControlsWrite),
    cancelAfterPayments: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: PAYMENTS_MAX }))),
    replacesCardId: Type.Optional(Nullable(Uuid, { description: 'A closed card of the same balance.' })),
  },
  {
    title: 'CardCreate',
    additionalProperties: false,
    examples: [
      {
        balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        holderUserId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e60',
        type: 'virtual',
        label: 'Travel',
      },
    ],
  },
)
export type CardCreate = Static<typeof CardCreate>

export const CardClose = Type.Object(
  { reason: Words('CardCloseReason', CARD_CLOSE_REASONS) },
  { title: 'CardClose', additionalProperties: false, examples: [{ reason: 'lost' }] },
)
export type CardClose = Static<typeof CardClose>

const shownLimits = {
  perAuthorisation: Nullable(Money),
  day: Nullable(Money),
  week: Nullable(Money),
  month: Nullable(Money),
  year: Nullable(Money),
  lifetime: Nullable(Money),
}

export const Card = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    balanceId: Uuid,
    holderUserId: Uuid,
    type: Words('CardType', CARD_TYPES),
    label: Nullable(Type.String()),
    status: Words('CardStatus', CARD_STATUSES),
    last4: Type.String({ description: 'The last four digits of the number, which its issuer keeps.' }),
    expiry: Type.String({ description: 'The last month of validity, `YYYY-MM`.' }),
    networkTokenRef: Nullable(Type.String()),
    limits: Type.Object(
      {
        ...shownLimits,
        byCategory: Type.Array(Type.Object({ category: Category, ...shownLimits })),
      },
      { title: 'CardLimits' },
    ),
    controls: Type.Object(
      {
        channels: Type.Array(Channel),
        allowedCategories: Nullable(Type.Array(Category)),
        blockedCategories: Type.Array(Category),
        blockedMccs: Type.Array(Mcc),
        allowedCountries: Nullable(Type.Array(CountryCode)),
        blockedCountries: Type.Array(CountryCode),
      },
      { title: 'CardControls' },
    ),
    cancelAfterPayments: Nullable(Type.Integer()),
    payments: Type.Integer({ description: 'Authorisations and force posts that were not reversed in full.' }),
    closeReason: Nullable(Words('CardCloseReason', CARD_CLOSE_REASONS)),
    replacesCardId: Nullable(Uuid),
    replacedByCardId: Nullable(Uuid),
    createdBy: Uuid,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Card' },
)
export type Card = Static<typeof Card>

export const cardList = list({
  filters: {
    status: { kind: 'words', values: CARD_STATUSES },
    type: { kind: 'words', values: CARD_TYPES },
    balanceId: { kind: 'ids' },
    holderUserId: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

const DeclineReason = Words('CardDeclineReason', CARD_DECLINE_REASONS)

export const CardTransaction = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    cardId: Uuid,
    balanceId: Uuid,
    ref: Type.String({ description: 'The reference of the network.' }),
    status: Words('CardTransactionStatus', CARD_TRANSACTION_STATUSES),
    declineReason: Nullable(DeclineReason),
    relatedTransactionId: Nullable(Uuid, {
      description: 'The card transaction that a refund or force post of its own reference belongs to.',
    }),
    network: Words('CardNetwork', CARD_NETWORKS),
    channel: Channel,
    merchant: Type.Object({ name: Type.String(), mcc: Mcc, category: Category, country: Nullable(CountryCode) }),
    authorisedAmount: Money,
    clearedAmount: Money,
    reversedAmount: Money,
    refundedAmount: Money,
    disputedAmount: Type.Object(Money.properties, { description: 'Credited by chargebacks that are not decided yet.' }),
    recoveredAmount: Type.Object(Money.properties, { description: 'Credited for good by chargebacks that were won.' }),
    heldAmount: Money,
    merchantAmount: Money,
    merchantCurrency: CurrencyCode,
    rate: Nullable(Type.String({ description: 'Units of the card’s currency for one of the merchant’s.' })),
    markup: Nullable(Money, { description: 'The markup on the conversion, within the fees.' }),
    expiresAt: Nullable(Timestamp, { description: 'When the authorisation expires.' }),
    events: Type.Array(
      Type.Object({
        id: Uuid,
        phase: Words('CardPhase', CARD_PHASES),
        amount: Money,
        fee: Money,
        merchantAmount: Nullable(Money, { description: 'As the merchant wrote it.' }),
        rate: Nullable(Type.String()),
        markup: Nullable(Money, { description: 'Within the fee; null where nothing was converted.' }),
        declineReason: Nullable(DeclineReason),
        at: Timestamp,
      }),
    ),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'CardTransaction' },
)
export type CardTransaction = Static<typeof CardTransaction>

export const cardTransactionList = list({
  filters: {
    cardId: { kind: 'ids' },
    balanceId: { kind: 'ids' },
    status: { kind: 'words', values: CARD_TRANSACTION_STATUSES },
    channel: { kind: 'words', values: CARD_CHANNELS },
    currency: { kind: 'text', max: CURRENCY_MAX },
    mcc: { kind: 'text', max: 4 },
    merchantCountry: { kind: 'text', max: 2 },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

export const CardIssuerMessage = Type.Object(
  {},
  {
    title: 'CardIssuerMessage',
    additionalProperties: true,
    description:
      'As the issuer words it. The sandbox sends `id`, `type` (`card.` and the phase, or `card.stand_in` for an ' +
      'authorisation that it has declined by itself), `occurredAt` and `data` with `cardId`, `ref`, `amountMinor` and ' +
      '`currency`.',
  },
)

const MERCHANT_MAX = 140
const RefText = Type.String({ pattern: '^SBX[A-Z0-9]{12}$', examples: ['SBX0A1B2C3D4E5F'] })

export const SimCard = Type.Object(
  {
    phase: Words('CardPhase', CARD_PHASES),
    amount: PositiveMoney,
    ref: Type.Optional(
      Nullable(RefText, { description: 'Drawn for an authorisation; names the transaction of a later phase.' }),
    ),
    relatedRef: Type.Optional(
      Nullable(RefText, {
        description:
          'The transaction that the phase is about. A force post, and a refund with a `ref` of its own, begin another ' +
          'transaction that belongs to it.',
      }),
    ),
    merchantName: Type.Optional(Nullable(Text(1, MERCHANT_MAX))),
    mcc: Type.Optional(Nullable(Mcc)),
    merchantCountry: Type.Optional(Nullable(CountryCode)),
    channel: Type.Optional(Nullable(Channel)),
    declineReason: Type.Optional(Nullable(DeclineReason)),
    final: Type.Optional(Type.Boolean({ description: 'Of a settlement: no other follows. By default true.' })),
  },
  {
    title: 'SimCard',
    additionalProperties: false,
    examples: [{ phase: 'authorisation', amount: { amountMinor: '2500', currency: 'EUR' }, merchantName: 'Grocer' }],
  },
)
export type SimCard = Static<typeof SimCard>
