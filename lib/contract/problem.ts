/** The schemas of problem documents, with which every error is answered. */
import Type from 'typebox'
import { Nullable } from './primitives.ts'
import { PROBLEMS } from '../base/problems.ts'

export const FieldErrorSchema = Type.Object(
  {
    field: Type.String({
      description: 'JSON Pointer into the body, or `header.<name>`, `path.<name>`, `query.<name>`.',
      examples: ['/amount/amountMinor'],
    }),
    code: Type.String({ examples: ['invalid_type'] }),
    message: Type.String(),
    params: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The values of the broken rule, such as `{"max": 140}`.',
      }),
    ),
  },
  { title: 'FieldError' },
)

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'Address of the explanation; ends with the slug.' }),
    title: Type.String({ description: 'The same for every problem of a type.' }),
    status: Type.Integer(),
    detail: Type.String({ description: 'The explanation of this occurrence. The text may change; do not parse it.' }),
    instance: Type.String({ description: 'Path of the request.' }),
    code: Type.String({ description: `The slug, one of: ${Object.keys(PROBLEMS).join(', ')}. New ones may be added.` }),
    requestId: Type.String(),
    retryable: Type.Boolean({ description: 'Whether the same request may be sent again unchanged.' }),
    errors: Type.Optional(Type.Array(FieldErrorSchema)),
    reason: Type.Optional(Type.String()),
    currentStatus: Type.Optional(
      Nullable(Type.String(), {
        description: 'Of `invalid-transition` and `not-cancellable`: the status of the resource.',
      }),
    ),
    allowed: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Of `invalid-transition`: the statuses in which the resource permits this request. When `currentStatus` is ' +
          'one of them, `detail` tells what else stands in the way; empty when no status would do.',
      }),
    ),
    retryAfterSeconds: Type.Optional(Type.Integer()),
    docUrl: Type.Optional(Type.String({ format: 'uri' })),
  },
  {
    title: 'Problem',
    additionalProperties: true,
    description: 'RFC 9457 problem details. Some types add members of their own.',
    examples: [
      {
        type: 'https://docs.example/problems/insufficient-funds',
        title: 'The balance does not cover the amount',
        status: 409,
        detail: 'Available 90.00 EUR, required 100.35 EUR.',
        instance: '/v1/payments',
        code: 'insufficient-funds',
        requestId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        retryable: false,
        available: { amountMinor: '9000', currency: 'EUR' },
        required: { amountMinor: '10035', currency: 'EUR' },
      },
    ],
  },
)
