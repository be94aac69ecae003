/** The fields of a payment that are kept and shown as the caller gave them. */
import Type, { type Static } from 'typebox'
import { ExternalId, Nullable } from '../contract/primitives.ts'

/**
 * A field that the caller may give with a payment; null where it gave none. Each has a column of its own, and a new one
 * needs nothing but a line here, its line in the entity and its migration: requests, drafts, rows and answers carry all
 * of them without naming them.
 */
export const GIVEN = {
  externalId: Nullable(ExternalId),
}

/** The given fields as members of a request. */
export const GIVEN_OPTIONAL = Type.Partial(Type.Object(GIVEN)).properties

type Fields = typeof GIVEN

/** The given fields of a payment. */
export type Given = { readonly [Field in keyof Fields]: Static<Fields[Field]> }

const NAMES = Object.keys(GIVEN) as readonly (keyof Given)[]

/** Returns the given fields of a payment or request, and no other; null for those that are absent. */
export function givenOf(source: Partial<Given>): Given {
  const given: Partial<Record<keyof Given, unknown>> = {}
  for (let i = 0; i < NAMES.length; i++) {
    const name = NAMES[i] as keyof Given
    given[name] = source[name] ?? null
  }
  return given as Given
}

/** The given fields of a payment for which the caller gave nothing. */
export const NONE_GIVEN: Given = givenOf({})
