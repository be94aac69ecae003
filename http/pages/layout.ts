/** The frame of every page: head, name of the operator, content, and the note about the link. */
import type { Brand } from '../../lib/branding/brand.ts'
import { html, styleElement, type Html } from './html.ts'
import type { Language } from './language.ts'
import type { PageContent } from './page.ts'
import { SCRIPT_PATH, STYLE_PATH, ICON_PATH } from './assets.ts'
import type { Texts } from './texts.ts'

export interface Frame {
  readonly language: Language
  readonly texts: Texts
  /** Null where no operator is known. */
  readonly brand: Brand | null
  /** The style of the operator's colours. */
  readonly style: string
  /** Whether a form was refused: then the title says so first, because readers of screens hear it first. */
  readonly refused: boolean
  /** Whether the page shows what is meant for the receiver of the link alone. */
  readonly personal: boolean
}

/** Renders a page as a document. */
export function documentOf(
  { title, body }: PageContent,
  { language, texts, brand, style, refused, personal }: Frame,
): string {
  const named = brand === null ? title : `${title} · ${brand.name}`
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<title>${refused ? `${texts.forms.errorPrefix}: ${named}` : named}</title>
<link rel="icon" href="${ICON_PATH}" type="image/svg+xml">
<link rel="stylesheet" href="${STYLE_PATH}">
${styleElement(style)}
<script src="${SCRIPT_PATH}" defer></script>
</head>
<body>
${brand !== null && html`<header class="bar"><p class="brand">${nameOf(brand)}</p></header>`}
<main>
${body}
</main>
<footer>
${personal && html`<p>${texts.personalLink}</p>`}
${brand !== null && contactOf(brand, texts)}
</footer>
</body>
</html>
`.text
}

/** The logo of the operator with its name as text for those who do not see it, or else the name. */
const nameOf = ({ name, logo }: Brand): Html =>
  logo === null
    ? html`${name}`
    : html`<img class="logo" src="data:${logo.contentType};base64,${logo.data}" alt="${name}">`

/** Where people turn to with questions, and the details of the company. */
function contactOf({ support: { email, phone, url }, footer }: Brand, texts: Texts): Html {
  const ways = [
    email !== null && html`<a href="mailto:${email}">${email}</a>`,
    phone !== null && html`<a href="tel:${phone}">${phone}</a>`,
    url !== null && html`<a href="${url}" rel="noreferrer">${texts.helpPage}</a>`,
  ].filter((way) => way !== false)
  return html`${ways.length > 0 && html`<p>${texts.questions} ${ways.map((way, nth) => html`${nth > 0 && '\u00a0· '}${way}`)}</p>`}
${footer !== null && html`<p>${footer}</p>`}`
}

/** A page that says one thing, with at most one place to go next. */
export function messageOf(
  { title, text }: { readonly title: string; readonly text: string },
  { mark = null, more = null }: { readonly mark?: Html | null; readonly more?: Html | null } = {},
): PageContent {
  return {
    title,
    body: html`<section class="card message">
${mark}
<h1>${title}</h1>
<p>${text}</p>
${more}
</section>`,
  }
}

/** The mark of something that was done. It says nothing that the heading does not. */
export const DONE: Html = html`<svg class="mark done" viewBox="0 0 48 48" aria-hidden="true" focusable="false"><circle cx="24" cy="24" r="23"/><path d="M14 25l7 7 13-15"/></svg>`

/** The mark of something that ended. */
export const ENDED: Html = html`<svg class="mark" viewBox="0 0 48 48" aria-hidden="true" focusable="false"><circle cx="24" cy="24" r="23"/><path d="M15 24h18"/></svg>`

/** A link that looks like a button. */
export const buttonLink = (address: string, text: string): Html =>
  html`<p class="actions"><a class="button" href="${address}">${text}</a></p>`

/** A list of facts: names and values. Facts without a value are left out. */
export const factsOf = (facts: readonly (readonly [name: string, value: Html | string | null])[]): Html =>
  html`<dl class="facts">${facts
    .filter(([, value]) => value !== null)
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
