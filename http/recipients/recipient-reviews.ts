/** Recipient reviews: the queue of recipients for the operator's staff, and blocking and unblocking a recipient. */
import { empty, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  RecipientBlock,
  RecipientReview,
  recipientReviewList,
  RecipientUnblock,
  ReviewApproval,
  ReviewRejection,
} from '../../lib/recipients/recipient-review-schema.ts'

const STAFF = {
  tag: 'recipients',
  callers: 'staff',
  capability: 'compliance.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const

export const listRecipientReviews = route({
  ...STAFF,
  method: 'get',
  path: '/recipient-reviews',
  operationId: 'listRecipientReviews',
  summary: 'List reviews of recipients',
  description: 'By default pending reviews.',
  list: recipientReviewList,
  success: {
    status: 200,
    description: 'A page of reviews.',
    schema: PageOf('RecipientReviewPage', RecipientReview),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { recipients }) => page(list, await recipients.listRecipientReviews(list)),
})

export const getRecipientReview = route({
  ...STAFF,
  method: 'get',
  path: '/recipient-reviews/{reviewId}',
  operationId: 'getRecipientReview',
  summary: 'Read the review of a recipient by its id',
  success: { status: 200, description: 'The review.', schema: RecipientReview, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { recipients }) =>
    resource(await recipients.getRecipientReview(tenant, params.reviewId)),
})

export const approveRecipientReview = route({
  ...STAFF,
  method: 'post',
  path: '/recipient-reviews/{reviewId}/approve',
  operationId: 'approveRecipientReview',
  summary: 'Approve a recipient',
  body: ReviewApproval,
  bodyOptional: true,
  success: { status: 200, description: 'The review with the decision.', schema: RecipientReview, etag: true },
  problems: ['not-found', 'invalid-transition', 'tipping_off'],
  handle: async ({ caller, params, body }, { recipients }) => {
    await recipients.review(caller, params.reviewId, {
      decision: 'approved',
      reason: body.reason ?? null,
    })
    return resource(await recipients.getRecipientReview(caller.tenant, params.reviewId))
  },
})

export const rejectRecipientReview = route({
  ...STAFF,
  method: 'post',
  path: '/recipient-reviews/{reviewId}/reject',
  operationId: 'rejectRecipientReview',
  summary: 'Reject a recipient',
  body: ReviewRejection,
  success: { status: 200, description: 'The review with the decision.', schema: RecipientReview, etag: true },
  problems: ['not-found', 'invalid-transition', 'tipping_off'],
  handle: async ({ caller, params, body }, { recipients }) => {
    await recipients.review(caller, params.reviewId, {
      decision: 'rejected',
      reason: body.reason,
    })
    return resource(await recipients.getRecipientReview(caller.tenant, params.reviewId))
  },
})

export const blockRecipient = route({
  ...STAFF,
  method: 'post',
  path: '/recipients/{recipientId}/block',
  operationId: 'blockRecipient',
  summary: 'Block a recipient',
  description: 'Payments that wait for approval are cancelled.',
  body: RecipientBlock,
  success: { status: 204, description: 'The recipient can no longer be paid.' },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { recipients }) => {
    await recipients.block(caller, params.recipientId, {
      blocked: true,
      reason: body.reason,
    })
    return empty()
  },
})

export const unblockRecipient = route({
  ...STAFF,
  method: 'post',
  path: '/recipients/{recipientId}/unblock',
  operationId: 'unblockRecipient',
  summary: 'Unblock a recipient',
  body: RecipientUnblock,
  bodyOptional: true,
  success: { status: 204, description: 'The recipient can be paid.' },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { recipients }) => {
    await recipients.block(caller, params.recipientId, {
      blocked: false,
      reason: body.reason ?? null,
    })
    return empty()
  },
})
