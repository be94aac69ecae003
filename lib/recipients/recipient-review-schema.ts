/** Schemas of reviews: recipients that wait for a decision by staff. */
import Type, { type Static } from 'typebox'
import { REVIEW_KINDS, REVIEW_STATUSES } from './review.ts'
import { list, OLDER_THAN_HOURS_MAX } from '../contract/list.ts'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { Recipient } from './recipient-schema.ts'

export const RecipientReview = Type.Object(
  {
    id: Uuid,
    kind: Words('RecipientReviewKind', REVIEW_KINDS),
    customerId: Uuid,
    customerName: Type.String(),
    status: Words('RecipientReviewStatus', REVIEW_STATUSES),
    recipient: Type.Object(Recipient.properties, {
      title: 'ReviewedRecipient',
      description: 'The recipient as it is now, with full account identifiers.',
    }),
    requestedBy: Uuid,
    requestedByName: Type.String(),
    assignee: Nullable(Uuid, { description: 'The first person of the staff who acted on it.' }),
    decidedBy: Nullable(Uuid),
    decidedAt: Nullable(Timestamp),
    reason: Nullable(Type.String()),
    expiresAt: Timestamp,
    createdAt: Timestamp,
  },
  { title: 'RecipientReview' },
)
export type RecipientReview = Static<typeof RecipientReview>

export const ReviewApproval = Type.Object(
  { reason: Type.Optional(Nullable(Text(1, 500, { description: 'The reason, which the customer can read.' }))) },
  { title: 'ReviewApproval', additionalProperties: false },
)
export const ReviewRejection = Type.Object(
  { reason: Text(1, 500, { description: 'The reason, which the customer can read.' }) },
  { title: 'ReviewRejection', additionalProperties: false },
)

const internal = Text(1, 500, { description: "For the operator's staff; never shown to customers." })
export const RecipientBlock = Type.Object(
  { reason: internal },
  { title: 'RecipientBlock', additionalProperties: false },
)
export const RecipientUnblock = Type.Object(
  { reason: Type.Optional(Nullable(internal)) },
  { title: 'RecipientUnblock', additionalProperties: false },
)

export const recipientReviewList = list({
  filters: {
    status: { kind: 'words', values: REVIEW_STATUSES, default: ['pending'] },
    kind: { kind: 'words', values: REVIEW_KINDS },
    customerId: { kind: 'ids' },
    assignee: { kind: 'ids' },
    olderThanHours: { kind: 'integer', min: 0, max: OLDER_THAN_HOURS_MAX },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['createdAt', '-createdAt'],
})
