/** Followers of events. */

/**
 * The table of each follower's cursor row, with its advisory lock. Any fixed number works; these spell "hook", "paid",
 * "fund", "schd", "trac" and "pend".
 */
export const FOLLOWERS = {
  webhook_relay: 0x686f6f6b,
  payment_follow_up: 0x70616964,
  funds_request_matching: 0x66756e64,
  scheduled_payment_follow_up: 0x73636864,
  transaction_following: 0x74726163,
  pending_transaction_following: 0x70656e64,
} as const
export type Follower = keyof typeof FOLLOWERS
