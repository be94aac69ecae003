/** The state tables of the contract for everything but money (money-moves.ts says how a row is written). */
import { movesOf } from './money-moves.ts'

export const RECIPIENT_MOVES = movesOf(`
  R1 | none | create, no review | active
  R2 | none | create, a review is needed | pending_approval
  R3 | pending_approval | approved | active
  R4 | pending_approval | rejected | rejected
  R5 | pending_approval | review expires | rejected
  R6 | active | change of a reviewed member, a review is needed | pending_approval
  R6 | active | change of a reviewed member, no review | active
  R6 | pending_approval | change of a reviewed member, a review is needed | pending_approval
  R7 | active | change of another member | active
  R7 | pending_approval | change of another member | pending_approval
  R8 | rejected | change of a reviewed member, a review is needed | pending_approval
  R9 | active | operator blocks | blocked
  R9 | blocked | operator unblocks | active
  R10 | pending_approval active rejected blocked | delete | deleted
`)

export const APPROVAL_MOVES = movesOf(`
  A1 | none | the subject falls in a tier | pending | | approval.requested
  A2 | pending | approve, more are needed | pending
  A2 | pending | approve, the last | approved
  A3 | pending | reject | rejected
  A4 | pending | expiry | expired
  A5 | pending | the subject is withdrawn | cancelled
  A6 | pending | a decision while the bulk subject is submitting | -
  A7 | pending | approve a change of policy | approved
`)

export const BULK_MOVES = movesOf(`
  B1 | none | upload | validating
  B2 | validating | validation ends, a row is valid | ready
  B2 | validating | validation ends, no row is valid | invalid
  B3 | ready invalid | revalidate | validating
  B4 | ready | submit | submitting
  B5 | submitting | run ends, every valid row became a payment | submitted
  B5 | submitting | run ends, some rows failed | partially_submitted
  B6 | submitting | cancel after 2 minutes, every payment was made | submitted
  B6 | submitting | cancel after 2 minutes, payments were made | partially_submitted
  B6 | submitting | cancel after 2 minutes, none was made | cancelled
  B7 | submitting | stalled for 30 minutes, payments were made | partially_submitted
  B7 | submitting | stalled for 30 minutes, none was made | cancelled
  B8 | submitting | submit again, the approval is over | -
  B9 | validating ready invalid | cancel | cancelled
  B10 | submitting | submit | submitting
  B11 | submitting submitted partially_submitted cancelled | cancel | -
`)

export const ROW_MOVES = movesOf(`
  W1 | pending | validation, no error | valid
  W1 | pending | validation, an error | invalid
  W2 | valid | submission run | submitting
  W2 | submitting | payment made | submitted
  W2 | submitting | payment refused | failed
`)

export const SCHEDULE_MOVES = movesOf(`
  S1 | none | create | active
  S2 | active | an occurrence is made, more follow | active
  S2 | active | the last occurrence is made | completed
  S3 | active | run now | active
  S4 | active | pause | paused
  S4 | paused | resume | active
  S5 | active paused | cancel | cancelled
  S6 | active | third failure in a row | failed
  S6 | active | recipient blocked | paused
`)

export const FUNDS_REQUEST_MOVES = movesOf(`
  N1 | none | create | open
  N2 | open partially_paid | money arrives, less than remains | partially_paid
  N2 | open partially_paid | money arrives, all that remains | paid
  N3 | open partially_paid | expiry | expired
  N4 | open partially_paid | cancel | cancelled
  N5 | open | payer declines | declined
`)

export const JOB_MOVES = movesOf(`
  J1 | none | request | queued
  J2 | queued | start | running
  J2 | running | finish | succeeded
  J2 | running | error | failed
  J2 | queued running | cancel | cancelled
  J3 | succeeded | 7 days | expired
`)

export const CUSTOMER_MOVES = movesOf(`
  K1 | none | operator creates | draft
  K2 | draft | first login of the owner | onboarding
  K3 | onboarding | submit the case | in_review
  K4 | in_review | request information | info_required
  K5 | info_required | resubmit | in_review
  K6 | in_review | approve | active
  K7 | in_review | reject | rejected
  K8 | draft onboarding in_review info_required | withdraw | closed
  K9 | active rejected | review again | in_review
  K10 | in_review | result of the provider | in_review
  K11 | active restricted suspended | restrict, suspend or lift | restricted
  K12 | active restricted | request closure | closing
  K13 | closing | every balance is closed | closed
  K14 | closing | withdraw the closure | active
`)

export const ENDPOINT_MOVES = movesOf(`
  E1 | none | create | active
  E2 | active | 20 failed attempts in a row | paused
  E3 | active paused | 72 hours of failures without a success | disabled
  E4 | active | answer 410 | active
  E5 | active paused | switched off | disabled
  E6 | paused disabled | switched on | active
`)

export const DELIVERY_MOVES = movesOf(`
  V1 | none | event, the endpoint is active | pending
  V1 | none | event, the endpoint is not active | discarded
  V2 | pending retrying | attempt succeeds | succeeded
  V3 | pending retrying | attempt fails, a slot is left | retrying
  V4 | pending retrying | attempt fails, no slot is left | failed
  V5 | pending retrying | endpoint disabled or deleted | discarded
  V6 | succeeded failed discarded retrying | redeliver | pending
`)

/** Minutes after a failed attempt until the next; the last repeats, within 72 hours of the event. */
export const DELIVERY_DELAYS_MINUTES = [1, 5, 30, 120, 360, 720]
export const DELIVERY_WINDOW_HOURS = 72
export const FAILURES_THAT_PAUSE = 20

export const HOLD_MOVES = movesOf(`
  O1 | none | create | active
  O2 | active | the subject posts | captured
  O3 | active | the subject fails or is cancelled | released
  O4 | active | its time is over | expired
`)

export const API_KEY_MOVES = movesOf(`
  I1 | none | create | active
  I2 | active | rotate | rotating
  I3 | active rotating | revoke, or the grace ends | revoked
  I3 | active rotating | expiresAt | expired
`)

export const MANDATE_MOVES = movesOf(`
  M1 | none | create | pending
  M2 | pending | signed, no lodging needed | active
  M3 | pending | lodge | submitted
  M4 | submitted | accepted | active
  M5 | pending submitted | refused | failed
  M6 | active suspended | cancel | cancelled
  M7 | pending submitted | cancel | cancelled
  M8 | active suspended | cancelled by the payer's bank | cancelled
  M9 | active | suspend | suspended
  M9 | suspended | reinstate | active
  M10 | active | dormancy | expired
  M11 | active | the one collection is collected | consumed
  M12 | active | account changes | active
`)

export const COLLECTION_MOVES = movesOf(`
  C1 | none | create | pending
  C2 | pending | cancel | cancelled
  C3 | pending | cut-off | submitted
  C4 | pending | mandate cancelled | cancelled
  C5 | submitted | reject | failed
  C6 | submitted | credit | collected
  C7 | collected | return | returned
  C7 | returned | reinstated | collected
  C8 | collected | reverse | reversed
  C9 | submitted | no answer | exception
  C10 | exception | reconciled as failed | failed
  C10 | exception | reconciled as collected | collected
  C10 | exception | reconciled as returned | returned
`)

export const CONNECTION_MOVES = movesOf(`
  Y1 | none | create | draft
  Y2 | draft failed | probe succeeds | verified
  Y2 | draft failed | probe fails | failed
  Y3 | verified | activate | active
  Y4 | active | drain | draining
  Y5 | draining | nothing in flight | retired
  Y6 | verified draft | retire | retired
`)

export const CARD_MOVES = movesOf(`
  Z1 | none | authorisation | held
  Z2 | held | increment or partial reversal | held
  Z3 | held | settlement | captured
  Z4 | held | reversal | released
  Z5 | captured | refund | refunded
  Z6 | none | decline | none
`)

export const REGISTRATION_MOVES = movesOf(`
  U1 | none | register | pending_verification
  U2 | pending_verification | code, mode open | provisioning
  U2 | pending_verification | code, mode approval | pending_approval
  U3 | provisioning | done | active
  U4 | active | 90 days idle | expired
  U4 | active | suspend | suspended
  U4 | active | delete | deleted
  U5 | pending_approval | approve | provisioning
  U5 | pending_approval | reject | rejected
`)
