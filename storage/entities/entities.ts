/**
 * All entities. Tables that have none (postings, status updates, events, idempotency, instructions, partner messages, the
 * sandbox bank's book, the trail of changes, failed sign-ins) are only ever written by statements of our own: no unit of work
 * sees their rows, and MikroORM has no words for the partitions and composite keys by time that some of them have.
 */
import { Account } from './account.ts'
import { ApiKey } from './api-key.ts'
import { Balance } from './balance.ts'
import { Challenge } from './challenge.ts'
import { Customer } from './customer.ts'
import { Hold } from './hold.ts'
import { IncomingPayment } from './incoming-payment.ts'
import { Membership } from './membership.ts'
import { MfaFactor } from './mfa-factor.ts'
import { Operator } from './operator.ts'
import { PasswordReset } from './password-reset.ts'
import { Payment } from './payment.ts'
import { PlatformUser } from './platform-user.ts'
import { ProviderConnection } from './provider-connection.ts'
import { Recipient } from './recipient.ts'
import { Session } from './session.ts'
import { Transfer } from './transfer.ts'

export const ENTITIES = [
  Account, ApiKey, Balance, Challenge, Customer, Hold, IncomingPayment, Membership, MfaFactor, Operator, PasswordReset, Payment, PlatformUser,
  ProviderConnection, Recipient, Session, Transfer,
] as const
