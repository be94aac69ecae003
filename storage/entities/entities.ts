/**
 * All entities. Tables that have none (postings, status updates, events, idempotency, instructions, partner messages, the
 * sandbox bank's book) are written by the commit alone, in statements that bind arrays: no unit of work ever sees their
 * rows, and MikroORM has no words for their partitions and composite keys by time.
 */
import { Account } from './account.ts'
import { ApiKey } from './api-key.ts'
import { Balance } from './balance.ts'
import { Customer } from './customer.ts'
import { Hold } from './hold.ts'
import { IncomingPayment } from './incoming-payment.ts'
import { Operator } from './operator.ts'
import { Payment } from './payment.ts'
import { ProviderConnection } from './provider-connection.ts'
import { Recipient } from './recipient.ts'
import { Transfer } from './transfer.ts'

export const ENTITIES = [
  Account, ApiKey, Balance, Customer, Hold, IncomingPayment, Operator, Payment, ProviderConnection, Recipient, Transfer,
] as const
