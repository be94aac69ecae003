/** The page of an invitation: for a customer's member, for staff, and for the first administrator of a new database. */
import { PASSWORD_MIN } from '../../lib/identity/password-rules.ts'
import type { InvitationAccept, OpenInvitation } from '../../lib/identity/member-schema.ts'
import { SYSTEM_NAME } from '../../lib/identity/caller.ts'
import { formOf, type ShownField } from '../pages/fields.ts'
import { html } from '../pages/html.ts'
import { writtenMoment } from '../pages/language.ts'
import { buttonLink, DONE, factsOf, messageOf } from '../pages/layout.ts'
import { page, type PageContent, type PageContext } from '../pages/page.ts'
import { acceptInvitation, getInvitation } from './invitations.ts'

const NAME_MAX = 100
/** The page where a forgotten password is replaced. */
const FORGOTTEN_PATH = '/password-resets'

export const invitationPage = page<OpenInvitation>({
  name: 'invitations',
  hasToken: true,
  operation: getInvitation,
  read: (token, { members }) => members.openInvitation(token),
  show,
  forms: {
    '': {
      operation: acceptInvitation,
      fields: ({ knownPerson }) => ({
        ...(knownPerson ? {} : { name: { required: true } }),
        password: { secret: true, required: true },
      }),
      async submit({ token, body, caller }, { members }) {
        await members.acceptInvitation(token, body as InvitationAccept, caller)
      },
      fieldOf: ({ slug }) =>
        slug === 'unauthenticated' ? { field: 'password', text: ({ forms }) => forms.faults.wrongPassword } : null,
      done,
    },
  },
})

function show(view: OpenInvitation, context: PageContext): PageContent {
  const { texts, locale } = context
  const { invitation } = texts
  const { customerName, knownPerson } = view
  const operatorName = operatorNameOf(view, context)
  const heading =
    customerName === null ? invitation.headingStaff(operatorName) : invitation.headingCustomer(customerName)
  return {
    title: invitation.title,
    body: html`<section class="card">
<h1>${heading}</h1>
${factsOf([
  [invitation.operator, customerName === null ? null : operatorName],
  [invitation.role, invitation.roles[view.role]],
  // The first administrator is invited by the command that made the operator.
  [invitation.invitedBy, view.invitedByName === SYSTEM_NAME ? null : view.invitedByName],
  [invitation.validUntil, html`<time datetime="${view.expiresAt}">${writtenMoment(view.expiresAt, locale)}</time>`],
])}
<p class="intro">${knownPerson ? invitation.knownPersonIntro : invitation.newPersonIntro}</p>
${formOf(context, { fields: fieldsOf(view, context), submit: invitation.submit })}
${knownPerson && html`<p class="aside"><a href="${FORGOTTEN_PATH}">${invitation.forgotten}</a></p>`}
</section>`,
  }
}

function fieldsOf({ email, name, knownPerson }: OpenInvitation, { texts, form }: PageContext): ShownField[] {
  const { invitation } = texts
  const address: ShownField = {
    name: 'email',
    label: invitation.email,
    type: 'email',
    autocomplete: 'username',
    value: email,
    readOnly: true,
  }
  if (knownPerson)
    return [
      address,
      { name: 'password', label: invitation.password, type: 'password', autocomplete: 'current-password' },
    ]
  return [
    address,
    {
      name: 'name',
      label: invitation.name,
      type: 'text',
      autocomplete: 'name',
      value: form.entries['name'] ?? name ?? '',
      maxLength: NAME_MAX,
    },
    {
      name: 'password',
      label: invitation.newPassword,
      hint: invitation.newPasswordHint(`${PASSWORD_MIN}`),
      type: 'password',
      autocomplete: 'new-password',
    },
  ]
}

/** The name under which the operator appears to people, which its branding may change. */
const operatorNameOf = ({ operatorName }: OpenInvitation, { brand }: PageContext): string => brand?.name ?? operatorName

function done(view: OpenInvitation, context: PageContext): PageContent {
  const { texts, signInUrl } = context
  const { customerName, email } = view
  const { invitation, signIn } = texts
  const operatorName = operatorNameOf(view, context)
  const text = customerName === null ? invitation.doneStaff(operatorName) : invitation.doneCustomer(customerName)
  const next = html`<p>${invitation.nextSignIn(email)}${customerName === null && ` ${invitation.nextFactor}`}</p>
${signInUrl !== null && buttonLink(signInUrl, signIn)}`
  return messageOf({ title: invitation.doneTitle, text }, { mark: DONE, more: next })
}
