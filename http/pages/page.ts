/**
 * A page for people: what it shows of the thing behind its link, and its forms. A page stands for operations of the API
 * and shares their use cases, limits and schemas; what it adds is the language and the look.
 */
import type { Brand } from '../../lib/branding/brand.ts'
import type { Problem } from '../../lib/base/problems.ts'
import type { Linked } from '../../lib/contract/linked.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Route } from '../route/route.ts'
import type { ReadServices, Services } from '../route/services.ts'
import type { Html } from './html.ts'
import type { Speech } from './language.ts'
import type { Texts } from './texts.ts'

/** The facts that a page is drawn with, beside the resource that it shows. */
export interface PageContext extends Speech {
  readonly texts: Texts
  /** Null where no operator is known. */
  readonly brand: Brand | null
  /** The path of the page, with the token of its link. */
  readonly path: string
  /** The address of the console where people sign in; null where there is none, or more than one. */
  readonly signInUrl: string | null
  readonly form: FormState
}

/** A form as it was sent: empty before that. */
export interface FormState {
  /** The entries by field, without passwords. */
  readonly entries: Readonly<Record<string, string>>
  /** The faults of fields, in the language of the page. */
  readonly faults: Readonly<Record<string, string>>
  /** Whether the thing had changed so that the form came too late. */
  readonly tooLate: boolean
}

/** The part of a page that is its own. */
export interface PageContent {
  readonly title: string
  readonly body: Html
}

/** A field of a form. */
export interface FormField {
  /** Never shown again: a password. */
  readonly secret?: true
  /** Must be filled in, also where the operation would do without. */
  readonly required?: true
}
export type FormFields = Readonly<Record<string, FormField>>

/** The content of a form that was sent. */
export interface FormSubmission {
  readonly token: string
  /** The entries, valid by the schema of the operation; `null` for a form without fields. */
  readonly body: unknown
  readonly caller: Caller<'anonymous'>
}

/** A form of a page. */
export interface FormDeclaration<View> {
  /** The operation that the form carries out: its limits and the schema of its body hold. */
  readonly operation: Route
  readonly fields: (view: View) => FormFields
  /** Carries the form out. @throws ProblemError as the operation does */
  readonly submit: (submission: FormSubmission, services: Services) => Promise<void>
  /** Names the field that a problem of the operation is about, where the problem does not: `password`. */
  readonly fieldOf?: (problem: Problem) => { readonly field: string; readonly text: (texts: Texts) => string } | null
  /** Shows that the form was carried out. Absent: the browser is sent to the page, which shows it. */
  readonly done?: (view: View, context: PageContext) => PageContent
}

/** A page. */
export interface PageDeclaration<View> {
  /** The first segment of its address. */
  readonly name: string
  /** Whether the token of a link is the second segment. */
  readonly hasToken: boolean
  /** The operation that the page stands for: its limits hold for reading the page. */
  readonly operation: Route
  /** Reads the thing behind a link; null when the link is not open. `token` is empty where the page has none. */
  readonly read: (token: string, services: ReadServices) => Promise<Linked<View> | null>
  readonly show: (view: View, context: PageContext) => PageContent
  /** Where else to go when the link is not open. */
  readonly instead?: (texts: Texts) => { readonly address: string; readonly text: string }
  /** The forms by the last segment of their address; empty for the address of the page. */
  readonly forms: Readonly<Record<string, FormDeclaration<View>>>
}

/** A page whose view only the page itself knows. */
export type Page = PageDeclaration<unknown>

/** Declares a page. */
export const page = <View>(declaration: PageDeclaration<View>): Page => declaration as unknown as Page
