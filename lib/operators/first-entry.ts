/** The first entry into a new database: what makes its operator and invites the first administrator. */
import Type, { type Static } from 'typebox'
import { Email, Text } from '../contract/primitives.ts'
import { OperatorName } from './operator-schema.ts'

/** The arguments of the command that makes the operator. */
export const FirstEntry = Type.Object(
  { operator: OperatorName, email: Email, name: Text(1, 100) },
  { title: 'FirstEntry', additionalProperties: false },
)
export type FirstEntry = Static<typeof FirstEntry>

/** The command, as the log, `/ready` and the refusals of the command itself write it. */
export const INIT_COMMAND = 'npx vostro init --operator NAME --email ADDRESS --name PERSON'

/** The sentence of a node without an operator. */
export const NO_OPERATOR = `There is no operator yet; make one with: ${INIT_COMMAND}`
