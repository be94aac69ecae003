/** The views of a schema: what its resources look like where they are shown, which nothing changes any more. */
import type { Static, TSchema } from 'typebox'

type ReadonlyDeep<Value> = Value extends object ? { readonly [Name in keyof Value]: ReadonlyDeep<Value[Name]> } : Value

/** The type of a view that a schema describes; never for a schema whose type does not say what it describes. */
export type Shown<Schema extends TSchema> = unknown extends Static<Schema> ? never : ReadonlyDeep<Static<Schema>>
