/**
 * A route says everything about an operation once. Validation, the OpenAPI document, the reference page and the
 * contract tests read this declaration; nothing about an operation is written in a second place.
 */
import type { Static, TSchema } from 'typebox'
import type { ProblemSlug } from '../lib/problems.ts'
import type { ListDeclaration, ListQuery } from './list.ts'
import type { Idempotency, Principal, ReadWorld, Tenant, World } from './world.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
export type Callers = 'key' | 'public'

export type Tag =
  | 'service' | 'tenants' | 'onboarding' | 'accounts' | 'recipients' | 'payments' | 'activity' | 'providers'
  | 'public-api' | 'developer' | 'simulations'

/** What an API key can be allowed to do. */
export type Scope =
  | 'balances:read' | 'transactions:read' | 'statements:read' | 'recipients:read' | 'recipients:write'
  | 'payments:read' | 'payments:write' | 'exchanges:read' | 'exchanges:write' | 'webhooks:manage'
  | 'customers:read' | 'customers:write' | 'onboarding:read' | 'integration:read' | 'treasury:read' | 'reports:read'

/** The names in braces of a path. */
export type PathParameter<Path extends string> =
  Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParameter<Rest> : never

/** What a handler gets. Everything in it has been checked. */
export interface RouteContext<Path extends string, Caller extends Callers, List, Query, Body> {
  readonly requestId: string
  /** Path of the request as it was sent, starting `/v1/`. */
  readonly instance: string
  readonly principal: Caller extends 'public' ? null : Principal
  readonly tenant: Caller extends 'public' ? null : Tenant
  /** Ids in lower case. */
  readonly params: Readonly<Record<PathParameter<Path>, string>>
  readonly list: List extends ListDeclaration ? ListQuery<List> : null
  readonly query: Query extends TSchema ? Static<Query> : Record<never, never>
  readonly body: Body extends TSchema ? Static<Body> : null
  readonly idempotency: Idempotency | null
}

/** What a handler gives back: an answer that only needs to be sent. */
export interface Answer {
  readonly status: number
  readonly body: string | Uint8Array
  readonly contentType: string
  readonly etag?: string
  readonly location?: string
  readonly replayed?: boolean
  readonly cacheControl?: string
  /** Further headers as name, value, name, value. */
  readonly headers?: readonly string[]
}

export interface Success {
  readonly status: 200 | 201 | 202 | 204
  readonly description: string
  readonly schema?: TSchema
  /** Media type of the body, JSON unless said otherwise. */
  readonly contentType?: string
  /** The answer carries an ETag. On reads it also means: `If-None-Match` is honoured. */
  readonly etag?: boolean
  readonly location?: boolean
}

export interface RouteDeclaration<M extends Method, Path extends string, Caller extends Callers, List, Query, Body> {
  readonly method: M
  /** As in OpenAPI, without the `/v1` in front: `/payments/{paymentId}`. Parameters are UUIDs. */
  readonly path: Path
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  readonly callers: Caller
  /** The scope a key needs; null where any key will do or none is needed. */
  readonly scope: Scope | null
  readonly tenant: 'customer' | 'operator' | 'any' | 'none'
  readonly idempotency: 'required' | 'optional' | 'none'
  readonly list?: List
  /** Plain query parameters: an object of optional or required text schemas. */
  readonly query?: Query
  readonly body?: Body
  readonly success: Success
  /** The problems of this operation beyond those that follow from the rest of the declaration. */
  readonly problems: readonly ProblemSlug[]
  /** Also answered without `/v1` in front. */
  readonly atRoot?: boolean
  /**
   * Whether the resource in the path exists in the tenant. Asked only when the body is not valid, so that a missing
   * resource wins over a bad body without costing good requests a query.
   */
  readonly exists?: (tenant: Tenant, params: Readonly<Record<PathParameter<Path>, string>>, world: ReadWorld) => Promise<boolean>
  readonly handle: (
    context: RouteContext<Path, Caller, List, Query, Body>,
    world: M extends 'get' ? ReadWorld : World,
  ) => Answer | Promise<Answer>
}

/** A declaration whose types have been forgotten; what the table holds. */
export interface Route extends Omit<RouteDeclaration<Method, string, Callers, ListDeclaration, TSchema, TSchema>, 'handle' | 'exists'> {
  readonly exists?: (tenant: Tenant, params: Readonly<Record<string, string>>, world: ReadWorld) => Promise<boolean>
  readonly handle: (context: any, world: World) => Answer | Promise<Answer>
}

/** Declares a route. */
export function route<
  const M extends Method,
  const Path extends string,
  const Caller extends Callers,
  List extends ListDeclaration | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Body extends TSchema | undefined = undefined,
>(declaration: RouteDeclaration<M, Path, Caller, List, Query, Body>): Route {
  return declaration as unknown as Route
}

/** The names of a path's parameters, in order. */
export function pathParameters(path: string): string[] {
  return Array.from(path.matchAll(/\{([^}]+)\}/g), (match) => match[1] as string)
}
