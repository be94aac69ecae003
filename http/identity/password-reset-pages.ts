/** The pages of password resets: one sends a link to an address, the other takes the new password behind that link. */
import { PASSWORD_MIN } from '../../lib/identity/password-rules.ts'
import { formOf } from '../pages/fields.ts'
import { html } from '../pages/html.ts'
import { buttonLink, DONE, messageOf } from '../pages/layout.ts'
import { page } from '../pages/page.ts'
import { completePasswordReset, requestPasswordReset } from './password-resets.ts'

const NAME = 'password-resets'
const EMAIL_MAX = 254

export const passwordRequestPage = page<null>({
  name: NAME,
  hasToken: false,
  operation: requestPasswordReset,
  read: async () => ({ view: null, tenantId: null }),
  show: (_, context) => {
    const { passwordReset } = context.texts
    return {
      title: passwordReset.requestTitle,
      body: html`<section class="card">
<h1>${passwordReset.requestTitle}</h1>
<p class="intro">${passwordReset.requestIntro}</p>
${formOf(context, {
  fields: [
    {
      name: 'email',
      label: passwordReset.email,
      type: 'email',
      autocomplete: 'username',
      value: context.form.entries['email'] ?? '',
      maxLength: EMAIL_MAX,
    },
  ],
  submit: passwordReset.send,
})}
</section>`,
    }
  },
  forms: {
    '': {
      operation: requestPasswordReset,
      fields: () => ({ email: { required: true } }),
      async submit({ body, caller }, { identity, limitSignIn }) {
        const { email } = body as { readonly email: string }
        limitSignIn(email)
        identity.requestPasswordReset(email, caller)
      },
      done: (_, { texts }) => messageOf(texts.passwordReset.sent, { mark: DONE }),
    },
  },
})

export const passwordResetPage = page<{ readonly email: string }>({
  name: NAME,
  hasToken: true,
  operation: completePasswordReset,
  read: (token, { identity }) => identity.openPasswordReset(token),
  instead: ({ passwordReset }) => ({ address: `/${NAME}`, text: passwordReset.requestTitle }),
  show: ({ email }, context) => {
    const { passwordReset } = context.texts
    return {
      title: passwordReset.chooseTitle,
      body: html`<section class="card">
<h1>${passwordReset.chooseTitle}</h1>
<p class="intro">${passwordReset.chooseIntro}</p>
${formOf(context, {
  fields: [
    // Password managers keep a password under the address of its account.
    {
      name: 'email',
      label: passwordReset.email,
      type: 'email',
      autocomplete: 'username',
      value: email,
      readOnly: true,
    },
    {
      name: 'password',
      label: passwordReset.newPassword,
      hint: passwordReset.newPasswordHint(`${PASSWORD_MIN}`),
      type: 'password',
      autocomplete: 'new-password',
    },
  ],
  submit: passwordReset.save,
})}
</section>`,
    }
  },
  forms: {
    '': {
      operation: completePasswordReset,
      fields: () => ({ password: { secret: true, required: true } }),
      async submit({ token, body, caller }, { identity }) {
        const { password } = body as { readonly password: string }
        await identity.completePasswordReset(token, password, caller)
      },
      done: (_, { texts, signInUrl }) =>
        messageOf(texts.passwordReset.saved, {
          mark: DONE,
          more: signInUrl === null ? null : buttonLink(signInUrl, texts.signIn),
        }),
    },
  },
})
