/** Compiled schemas. Schemas are constants, so each is compiled once, however many nodes one process starts. */
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

const kept = new WeakMap<TSchema, Validator>()

/** Compiles a schema, which must not change afterwards. */
export function compiled(schema: TSchema): Validator {
  const known = kept.get(schema)
  if (known !== undefined) return known
  const validator: Validator = Compile(schema)
  kept.set(schema, validator)
  return validator
}
