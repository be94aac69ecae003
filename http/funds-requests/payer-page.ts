/**
 * The page of a funds request for its payer: the payee, the amount, the account with buttons that copy, a code for
 * banking apps, and a form that declines.
 */
import { printedReference } from '../../lib/funds-requests/creditor-reference.ts'
import type { PublicFundsRequest } from '../../lib/funds-requests/funds-request-schema.ts'
import { qrCode } from '../../lib/funds-requests/qr-code.ts'
import { formOf } from '../pages/fields.ts'
import { html, type Html } from '../pages/html.ts'
import { writtenAmount, writtenDay, writtenMoment } from '../pages/language.ts'
import { DONE, ENDED, factsOf, messageOf } from '../pages/layout.ts'
import { page, type PageContent, type PageContext } from '../pages/page.ts'
import { ACCOUNT_FIELDS, type AccountField, type PayerTexts } from '../pages/texts.ts'
import { declinePublicFundsRequest, getPublicFundsRequest } from './public-funds-requests.ts'

/** Characters of an amount from which on it is written smaller, so that it fits the line of a phone. */
const LONG_AMOUNT = 12

type Details = PublicFundsRequest['depositDetails'][number]

export const payerPage = page<PublicFundsRequest>({
  name: 'pay',
  hasToken: true,
  operation: getPublicFundsRequest,
  read: (token, { fundsRequests }) => fundsRequests.ofLink(token),
  show,
  forms: {
    decline: {
      operation: declinePublicFundsRequest,
      fields: () => ({}),
      async submit({ token, caller: { source, requestId } }, { fundsRequests }) {
        await fundsRequests.decline(token, { address: source.address, requestId })
      },
    },
  },
})

function show(view: PublicFundsRequest, context: PageContext): PageContent {
  const { status } = view
  return status === 'open' || status === 'partially_paid' ? waiting(view, context) : ended(view, status, context)
}

function ended(
  view: PublicFundsRequest,
  status: Exclude<PublicFundsRequest['status'], 'open' | 'partially_paid'>,
  { texts, locale, form }: PageContext,
): PageContent {
  const { payer } = texts
  const message = payer.ended[status](view.payeeName)
  const content = messageOf(message, {
    mark: status === 'paid' ? DONE : ENDED,
    more: factsOf([
      [payer.amount, writtenAmount(view.amount, locale)],
      [payer.purpose, view.description],
      [payer.invoiceNumber, view.invoiceNumber],
      [payer.number, view.number],
    ]),
  })
  return {
    ...content,
    body: html`${form.tooLate && html`<p class="notice" role="alert">${payer.changed}</p>`}${content.body}`,
  }
}

function waiting(view: PublicFundsRequest, context: PageContext): PageContent {
  const { texts, locale, form } = context
  const { payer } = texts
  const { payeeName } = view
  const remaining = writtenAmount(view.remainingAmount, locale)
  const isPartly = view.status === 'partially_paid'
  return {
    title: payer.title(payeeName),
    body: html`${form.tooLate && html`<p class="notice" role="alert">${payer.changed}</p>`}
<section class="card">
<h1 class="asking">${payer.asksFor(payeeName)} <strong class="amount${remaining.length > LONG_AMOUNT && ' long'}">${remaining}</strong></h1>
${
  isPartly &&
  html`<p class="partly">${payer.partlyPaid(writtenAmount(view.paidAmount, locale), writtenAmount(view.amount, locale))}</p>`
}
${factsOf([
  [payer.purpose, view.description],
  [payer.invoiceNumber, view.invoiceNumber],
  [
    payer.dueDate,
    view.dueDate === null ? null : html`<time datetime="${view.dueDate}">${writtenDay(view.dueDate, locale)}</time>`,
  ],
  [payer.validUntil, html`<time datetime="${view.expiresAt}">${writtenMoment(view.expiresAt, locale)}</time>`],
  [payer.number, view.number],
])}
</section>
${view.depositDetails.length === 0 ? html`<p class="notice">${payer.noAccount}</p>` : howToPay(view, payer, remaining)}
${!isPartly && declining(view, context)}
<p class="unseen" role="status"></p>`,
  }
}

function howToPay(view: PublicFundsRequest, payer: PayerTexts, remaining: string): Html {
  const { reference, qrPayload, payeeName, allowPartial } = view
  const accounts = distinctAccounts(view.depositDetails)
  const [only, ...others] = accounts
  const terms = html`${row(payer.amount, remaining, null, payer)}
${row(payer.paymentReference, printedReference(reference), reference, payer)}`
  const note = html`<p class="hint">${payer.referenceNote}${allowPartial && ` ${payer.partsAllowed}`}</p>`
  return html`<section class="card pay" aria-labelledby="how">
<div class="details">
<h2 id="how">${payer.howToPay}</h2>
<p class="intro">${payer.howToPayIntro}</p>
${
  only !== undefined && others.length === 0
    ? html`<dl class="rows">${accountRows(only, payer)}${terms}</dl>
${note}`
    : html`<dl class="rows">${terms}</dl>
${note}
${accounts.map(
  (account) => html`<h3>${account.scope === 'local' ? payer.localTransfer : payer.internationalTransfer}</h3>
<dl class="rows">${accountRows(account, payer)}</dl>`,
)}`
}
</div>
${qrPayload !== null && scanning(qrPayload, payer, payer.scanAlternative(payeeName, remaining))}
</section>`
}

/** Leaves out accounts that a payer cannot tell from an earlier one, because only their rails differ. */
function distinctAccounts(accounts: readonly Details[]): readonly Details[] {
  const seen = new Set<string>()
  return accounts.filter((account) => {
    const shown = JSON.stringify(ACCOUNT_FIELDS.map((field) => account[field]))
    if (seen.has(shown)) return false
    seen.add(shown)
    return true
  })
}

const accountRows = (details: Details, payer: PayerTexts): Html[] =>
  ACCOUNT_FIELDS.flatMap((field) => {
    const value = details[field]
    if (value === null) return []
    return [row(payer.account[field], printedIdentifier(field, value), value, payer)]
  })

/** Writes an identifier in the groups in which banks print it. */
function printedIdentifier(field: AccountField, value: string): string {
  switch (field) {
    case 'iban':
      return printedReference(value)
    case 'sortCode':
      return (value.match(/.{1,2}/g) ?? []).join('-')
    default:
      return value
  }
}

/** A line of the account: what it is, how people read it, and what the button copies; null: nothing. */
function row(label: string, shown: string, copied: string | null, texts: PayerTexts): Html {
  return html`<div><dt>${label}</dt><dd><span class="value">${shown}</span>${
    copied !== null &&
    html`<button type="button" class="copy" hidden data-copy="${copied}" data-label="${label}" data-copied="${texts.copied}"
  aria-label="${texts.copy}: ${label}">${texts.copy}</button>`
  }</dd></div>`
}

function scanning(payload: string, texts: PayerTexts, alternative: string): Html {
  const { size, path } = qrCode(payload)
  return html`<figure class="scan">
<svg role="img" aria-label="${alternative}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>
<figcaption><strong>${texts.scanTitle}</strong> ${texts.scanText}</figcaption>
</figure>`
}

const declining = ({ payeeName }: PublicFundsRequest, context: PageContext): Html => {
  const { payer } = context.texts
  return html`<details class="card decline">
<summary>${payer.declineTitle}</summary>
<p>${payer.declineText(payeeName)}</p>
${formOf(context, { action: 'decline', fields: [], submit: payer.decline, danger: true })}
</details>`
}
