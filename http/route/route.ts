/**
 * A route says everything about an operation once. Validation, the OpenAPI document, the reference page and the
 * contract tests read this declaration; nothing about an operation is written in a second place.
 */
import type { Static, TSchema } from 'typebox'
import type { Capability, Scope } from '../../lib/identity/capabilities.ts'
import type { StepUpAction } from '../../lib/identity/step-up.ts'
import type { Feature } from '../../lib/operators/features.ts'
import type { ProblemSlug } from '../../lib/base/problems.ts'
import type { ListDeclaration, ListQuery } from '../../lib/contract/list.ts'
import type { RoutePolicy } from './rate-policies.ts'
import type { ReadUpload } from '../../actors/documents/uploads.ts'
import type { ReadServices, Services } from './services.ts'
import type { SessionIdentity } from '../../lib/identity/caller.ts'
import type { Source } from '../../lib/commands/caller.ts'
import type { Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'
import type { Answer } from '../../lib/commands/answer.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/**
 * Who may call:
 *  - `key`      an API key with the scope, or a signed-in person whose role has the capability that stands for it
 *  - `session`  a signed-in person, never a key
 *  - `staff`    a signed-in person of the operator
 *  - `public`   anyone
 */
export type Callers = 'key' | 'session' | 'staff' | 'public'

export type Tag =
  | 'service' | 'tenants' | 'onboarding' | 'accounts' | 'recipients' | 'payments' | 'activity' | 'providers'
  | 'public-api' | 'developer' | 'simulations'

export type { Scope }

/** The names in braces of a path. */
export type PathParameter<Path extends string> =
  Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParameter<Rest> : never

/** What a handler gets. Everything in it has been checked. */
export interface RouteContext<Path extends string, Caller extends Callers, List, Query, Body> {
  readonly requestId: string
  /** Path of the request as it was sent, starting `/v1/`. */
  readonly instance: string
  readonly principal: Caller extends 'public' ? null : Principal
  /** Null also where the operation belongs to no tenant. */
  readonly tenant: Caller extends 'public' ? null : Tenant
  /** Who is signed in; null for keys. */
  readonly session: Caller extends 'session' | 'staff' ? SessionIdentity : SessionIdentity | null
  /** Where the request comes from; null where the declaration lets keys in and a key calls: nothing asks for it there. */
  readonly source: Caller extends 'key' ? Source | null : Source
  /**
   * The version that `If-Match` named, to be written on; null where the client sent none or does not mind which one it is.
   * The row may have moved on since it was compared, so the write compares it again.
   */
  readonly expectedVersion: number | bigint | null
  /** Ids in lower case. */
  readonly params: Readonly<Record<PathParameter<Path>, string>>
  readonly list: List extends ListDeclaration ? ListQuery<List> : null
  readonly query: Query extends TSchema ? Static<Query> : Record<never, never>
  readonly body: Body extends TSchema ? Static<Body> : null
  /** Reads the multipart body; null where the operation takes none, or where it takes JSON as well and that was sent. */
  readonly upload: ReadUpload | null
  readonly idempotency: Idempotency | null
  /** Of the clock: until when the caller waits. A command that is not decided by then is refused undecided. */
  readonly deadline: number
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
  /** The same body under another status, where what was asked for may have to wait. */
  readonly or?: { readonly status: 202; readonly description: string; readonly location?: boolean }
}

/** A step-up of a route. */
export interface StepUp<Path extends string> {
  readonly action: StepUpAction
  /** The path parameter that a challenge with a subject must name. */
  readonly subject?: PathParameter<Path>
  /** Only a challenge that names this subject will do. */
  readonly bound?: true
  /** People without a second factor cannot prove anything yet; the operation is how they get one. */
  readonly unlessNoFactor?: true
  /** Only some bodies need it, so the handler asks when it knows the body. */
  readonly byBody?: true
}

/** What is needed to find the resource that is being changed. */
export interface CurrentContext<Path extends string> {
  readonly tenant: Tenant | null
  readonly principal: Principal | null
  readonly params: Readonly<Record<PathParameter<Path>, string>>
}

export interface RouteDeclaration<M extends Method, Path extends string, Caller extends Callers, List, Query, Body> {
  readonly method: M
  /** As in OpenAPI, without the `/v1` in front: `/payments/{paymentId}`. Parameters are UUIDs, `{token}` is opaque text. */
  readonly path: Path
  /** The words that path parameters may be which are no ids. */
  readonly words?: Readonly<Record<string, readonly string[]>>
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  readonly callers: Caller
  /** The scope a key needs; null where any key will do or none is needed. Sessions need the capability that stands for it. */
  readonly scope: Scope | null
  /** What a session needs where keys cannot call, any one of several; none: being signed in is enough. */
  readonly capability?: Capability | readonly Capability[]
  /** The second proof that sessions must have given within the last five minutes. */
  readonly stepUp?: StepUp<Path>
  /** Sessions that still owe their second factor may call too. */
  readonly beforeMfa?: true
  /**
   * `true`: clients must send `If-Match` with the tag of what they change. `when sent`: it is compared when they do.
   * Needs `current`.
   */
  readonly ifMatch?: true | 'when sent'
  /** What is in the path as it is now, exactly as reading it would show it; null when there is none in the tenant. */
  readonly current?: (context: CurrentContext<Path>, world: ReadServices) => Promise<Versioned<unknown> | null>
  readonly tenant: 'customer' | 'operator' | 'any' | 'none'
  /**
   * `only`: exists only where there is a sandbox. `simulation`: and is open to test keys, and to people of a developer's
   * workspace, alone.
   */
  readonly sandbox?: 'only' | 'simulation'
  /** What the operator can switch off, and this operation with it. Only where there is a tenant. */
  readonly feature?: Feature
  readonly idempotency: 'required' | 'optional' | 'none'
  readonly list?: List
  /** Plain query parameters: an object of optional or required text schemas. */
  readonly query?: Query
  readonly body?: Body
  /** What a multipart body holds, for readers; the operation reads it with `upload`. Beside `body` it is another way to send the same, and `body` is null then. */
  readonly form?: TSchema
  /** Of a JSON body, where it may be larger than usual. */
  readonly bodyBytesMax?: number
  /** No body at all is the same as `{}`. */
  readonly bodyOptional?: true
  readonly success: Success
  /** The problems of this operation beyond those that follow from the rest of the declaration. */
  readonly problems: readonly ProblemSlug[]
  /** Rate-limit policies beyond those of its kind of caller; `none`: not limited at all. */
  readonly limits?: 'none' | readonly RoutePolicy[]
  /** Works until its sunset, and says so in every answer. */
  readonly deprecated?: Deprecated
  /** The answer holds a new token, key or secret: the node that the request reached answers it, so it never passes between nodes. */
  readonly answersCredential?: true
  /** Also answered without `/v1` in front. */
  readonly atRoot?: boolean
  /**
   * Whether the resource in the path exists in the tenant. Asked only when the body is not valid, so that a missing
   * resource wins over a bad body without costing good requests a query.
   */
  readonly exists?: (tenant: Tenant, params: Readonly<Record<PathParameter<Path>, string>>, world: ReadServices) => Promise<boolean>
  readonly handle: (
    context: RouteContext<Path, Caller, List, Query, Body>,
    world: M extends 'get' ? ReadServices : Services,
  ) => Answer | Promise<Answer>
}

/** A declaration whose types have been forgotten; what the table holds. */
export interface Route extends Omit<RouteDeclaration<Method, string, Callers, ListDeclaration, TSchema, TSchema>, 'handle' | 'exists' | 'stepUp' | 'current'> {
  readonly stepUp?: Omit<StepUp<string>, 'subject'> & { readonly subject?: string }
  readonly current?: (context: CurrentContext<string> & { readonly params: Readonly<Record<string, string>> }, world: ReadServices) => Promise<Versioned<unknown> | null>
  readonly exists?: (tenant: Tenant, params: Readonly<Record<string, string>>, world: ReadServices) => Promise<boolean>
  readonly handle: (context: any, world: Services) => Answer | Promise<Answer>
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

/** When an operation was deprecated, and when it will stop working. Dates in UTC, `YYYY-MM-DD`. */
export interface Deprecated {
  readonly since: string
  /** At least half a year after `since` where integrators call it. */
  readonly sunset?: string
}
