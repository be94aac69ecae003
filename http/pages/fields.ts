/** Forms and their fields. Each field has its label, its hint and its fault, and names both to readers of screens. */
import { html, type Html } from './html.ts'
import type { PageContext } from './page.ts'

/** A field as a page shows it. */
export interface ShownField {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly type: 'text' | 'email' | 'password'
  /** The kind of value that browsers and password managers fill in, as a token of HTML. */
  readonly autocomplete: 'name' | 'username' | 'new-password' | 'current-password'
  readonly value?: string
  readonly readOnly?: true
  readonly maxLength?: number
}

/** A form to the page's own address, or to an address below it. */
export function formOf(
  { path, texts, form }: PageContext,
  {
    action,
    fields,
    submit,
    danger = false,
  }: {
    readonly action?: string
    readonly fields: readonly ShownField[]
    readonly submit: string
    /** Whether what the form does cannot be undone. */
    readonly danger?: boolean
  },
): Html {
  const { faults } = form
  const faulty = fields.filter(({ name }) => faults[name] !== undefined)
  const first = faulty[0]?.name
  return html`<form method="post" action="${action === undefined ? path : `${path}/${action}`}" novalidate>
${
  faulty.length > 0 &&
  html`<div class="summary" role="alert"><p>${texts.forms.summary}</p><ul>${faulty.map(
    ({ name, label }) => html`<li><a href="#${name}">${label}: ${faults[name] as string}</a></li>`,
  )}</ul></div>`
}
${fields.map((field) => fieldOf(field, texts.forms, { fault: faults[field.name] ?? null, focus: field.name === first }))}
<p class="actions"><button type="submit" class="button${danger ? ' danger' : ''}">${submit}</button></p>
</form>`
}

function fieldOf(
  { name, label, hint, type, autocomplete, value, readOnly, maxLength }: ShownField,
  texts: { readonly show: string; readonly hide: string },
  { fault, focus }: { readonly fault: string | null; readonly focus: boolean },
): Html {
  const described = [...(hint === undefined ? [] : [`${name}-hint`]), ...(fault === null ? [] : [`${name}-fault`])]
  return html`<div class="field${fault === null ? '' : ' faulty'}">
<label for="${name}">${label}</label>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${fault !== null && html`<p class="fault" id="${name}-fault">${fault}</p>`}
<div class="control"><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"
  ${type !== 'text' && html`autocapitalize="none" spellcheck="false"`}
  ${value !== undefined && html`value="${value}"`}
  ${maxLength !== undefined && html`maxlength="${maxLength}"`}
  ${readOnly === true ? html`readonly` : html`required`}
  ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}
  ${fault !== null && html`aria-invalid="true"`}
  ${focus && html`autofocus`}>${
    type === 'password' &&
    html`<button type="button" class="reveal" hidden aria-controls="${name}" aria-label="${texts.show}: ${label}"
  data-label="${label}" data-show="${texts.show}" data-hide="${texts.hide}">${texts.show}</button>`
  }</div>
</div>`
}
