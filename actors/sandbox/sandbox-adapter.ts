/**
 * The sandbox bank and its exchanges as an adapter. They live in this process and keep their books in its database, so
 * the adapter hands every call on; they report what has happened to the inboxes by themselves. Webhooks are for what a
 * test of an operator tells in the bank's name.
 */
import { sandboxAccounts } from '../../lib/sandbox/accounts.ts'
import { sandboxDescription } from '../../lib/providers/sandbox/description.ts'
import type { Adapter, AdapterConnection } from '../providers/adapters/adapter.ts'
import type { SandboxPartners } from './sandbox-partners.ts'
import { sandboxIssuerMessages } from './sandbox-issuer-messages.ts'
import { translateSandboxEvent, verifySandboxWebhook } from './sandbox-webhooks.ts'

/** Creates the adapter. All its connections lead to the same bank. */
export function sandboxAdapter(partners: SandboxPartners): Adapter {
  const { bank, credits, bookTransfers, statements, accountBook, exchanges, debits } = partners
  const connection: Omit<AdapterConnection, 'translate' | 'fx' | 'cards'> = {
    probe: async () => ({ ok: true, latencyMs: 0, message: null }),
    submit: (orders) => bank.submit(orders),
    status: (questions) => bank.status(questions.map(({ reference }) => reference)),
    recall: (requests) => bank.recall(requests),
    giveBack: (returns) => credits.giveBack(returns),
    answerDebits: (answers) => credits.answerDebits(answers),
    statement: (question) => statements.statement(question),
    verify: verifySandboxWebhook,
    verifyPayee: (question) => bank.verifyPayee(question),
    accounts: accountBook,
    bookTransfers,
    debits,
  }
  return {
    description: sandboxDescription,
    accountOffers: (currency) => sandboxAccounts(currency, 0),
    open: ({ id }) => ({
      ...connection,
      fx: {
        mid: (sell, buy) => exchanges.mid(id, sell, buy),
        submit: (orders) => exchanges.submit(orders),
        status: (references) => exchanges.status(references),
      },
      cards: sandboxIssuerMessages(id),
      translate: (event) => translateSandboxEvent(id, event),
    }),
  }
}
