/**
 * The type checker compares what a handler answers with what its route declares. Each `@ts-expect-error` is an answer
 * that must not compile; the type checker reports those that do.
 */
import t from 'tap'
import Type from 'typebox'
import { empty, json, page, resource } from '../../../http/route/answer.ts'
import { route } from '../../../http/route/route.ts'

const Toy = Type.Object({ id: Type.String(), wheels: Type.Array(Type.Integer()), colour: Type.Optional(Type.String()) })
const shared = {
  method: 'post',
  path: '/toys',
  operationId: 'makeToy',
  tag: 'service',
  summary: 'Make a toy',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  problems: [],
} as const
const success = { status: 200, description: 'The toy.', schema: Toy } as const
const toy: { readonly id: string; readonly wheels: readonly number[] } = { id: 'a', wheels: [1] }

t.test('a handler answers with the view and the status that its route declares', async (t) => {
  const routes = [
    route({ ...shared, success, handle: () => json(200, toy) }),
    route({ ...shared, success, handle: () => resource({ version: 1, view: toy }) }),
    route({ ...shared, success: { status: 204, description: 'Nothing.' }, handle: () => empty() }),
    route({
      ...shared,
      success: { ...success, or: { status: 202, description: 'It waits.' } },
      handle: () => resource({ version: 1, view: toy }, 202),
    }),
    // @ts-expect-error A member is missing.
    route({ ...shared, success, handle: () => json(200, { id: 'a' }) }),
    // @ts-expect-error A member has another type.
    route({ ...shared, success, handle: () => json(200, { id: 'a', wheels: ['1'] }) }),
    // @ts-expect-error An optional member has another type.
    route({ ...shared, success, handle: () => json(200, { ...toy, colour: 7 }) }),
    // @ts-expect-error The view is of no known type.
    route({ ...shared, success, handle: () => json(200, toy as unknown) }),
    // @ts-expect-error The route declares another status.
    route({ ...shared, success, handle: () => json(201, toy) }),
    // @ts-expect-error The route declares a body.
    route({ ...shared, success, handle: () => empty() }),
    // @ts-expect-error Bytes say nothing about the view.
    route({ ...shared, success, handle: () => ({ status: 200, body: '{}', contentType: 'application/json' }) }),
    // @ts-expect-error A page is no toy.
    route({ ...shared, success, handle: () => page({} as never, { rows: [toy], keys: [], hasMore: false }) }),
  ]
  t.equal(routes.length, 12)
})
