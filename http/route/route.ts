/**
 * A route declares everything about an operation once. Validation, the OpenAPI document, the reference page and the
 * contract tests read this declaration; nothing about an operation is written in a second place.
 */
import type { Static, TSchema } from 'typebox'
import type { Capability, Scope } from '../../lib/identity/capabilities.ts'
import type { StepUpAction } from '../../lib/identity/step-up.ts'
import type { MoneyUse } from '../../lib/customers/money-access.ts'
import type { Feature } from '../../lib/operators/features.ts'
import type { ProblemSlug } from '../../lib/base/problems.ts'
import type { ListDeclaration, ListQuery } from '../../lib/contract/list.ts'
import type { RoutePolicy } from './rate-policies.ts'
import type { ReadUpload } from '../../actors/documents/uploads.ts'
import type { ReadServices, Services } from './services.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Command, Versioned } from '../../lib/commands/command.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'
import type { Answer, AnswerBytes, FileBytes } from '../../lib/commands/answer.ts'
import type { Money } from '../../lib/contract/primitives.ts'
import type { Shown } from '../../lib/contract/shown.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/**
 * The permitted callers:
 *  - `key`      an API key with the scope, or a signed-in person whose role has the scope's capability
 *  - `session`  a signed-in person, never a key
 *  - `staff`    a signed-in person of the operator
 *  - `public`   anyone
 */
export type Callers = 'key' | 'session' | 'staff' | 'public'

export type Tag =
  | 'service'
  | 'tenants'
  | 'onboarding'
  | 'accounts'
  | 'recipients'
  | 'payments'
  | 'activity'
  | 'providers'
  | 'public-api'
  | 'developer'
  | 'simulations'

/** The names in braces in a path. */
export type PathParameter<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never

/**
 * The caller as a handler gets it: anonymous for a public route, a signed-in person, or a key or person of a tenant.
 */
export type CallerOf<Access extends Callers> = Access extends 'public'
  ? Caller<'anonymous'>
  : Access extends 'session' | 'staff'
    ? Caller<'person'>
    : Caller

/** The input of a handler. All of it has been checked. */
export interface RouteContext<Path extends string, Access extends Callers, List, Query, Body> {
  /** The caller, as commands and the audit trail take it. */
  readonly caller: CallerOf<Access>
  /** The body with the request's Idempotency-Key and deadline, as commands take it; null for a public route. */
  readonly command: Access extends 'public' ? null : Command<BodyOf<Body>>
  /** The caller's tenant. Null also where the operation belongs to no tenant. */
  readonly tenant: Access extends 'public' ? null : Tenant
  /** Ids are in lower case. */
  readonly params: Readonly<Record<PathParameter<Path>, string>>
  readonly list: List extends ListDeclaration ? ListQuery<List> : null
  readonly query: Query extends TSchema ? Static<Query> : Record<never, never>
  readonly body: BodyOf<Body>
  /** Reads the multipart body; null where the operation takes none, or takes JSON as well and JSON was sent. */
  readonly upload: ReadUpload | null
  /** The body as bytes, with the headers; null where the operation declares no signed body. */
  readonly signed: SignedBody | null
  /**
   * The version that `If-Match` named, which the write must replace. Null when the client sent none, or sent `*`. The
   * row may have changed since the version was compared, so the write compares it again.
   */
  readonly expectedVersion: number | bigint | null
}

type BodyOf<Body> = Body extends TSchema ? Static<Body> : null

/** The success answer of an operation. */
export interface Success {
  readonly status: 200 | 201 | 202 | 204
  readonly description: string
  readonly schema?: TSchema
  /** Media type of the body; JSON by default. */
  readonly contentType?: string
  /** The answer carries an ETag. On reads, `If-None-Match` is honoured too. */
  readonly etag?: boolean
  readonly location?: boolean
  /** A second status with the same body, where the request may have to wait. */
  readonly or?: { readonly status: 202; readonly description: string; readonly location?: boolean }
  /** The status with which the same body reports that the service cannot be used. `problems` documents it. */
  readonly unavailable?: 503
}

/** The view that a success answer shows: what its schema describes, a file, or null without a body. */
type ViewOf<Declared extends Success> = Declared extends { readonly contentType: string }
  ? FileBytes
  : 'schema' extends keyof Declared
    ? Declared extends { readonly schema: infer Schema extends TSchema }
      ? Shown<Schema>
      : never
    : null

/** The statuses that a success answer may have. */
type StatusOf<Declared extends Success> =
  | Declared['status']
  | (Declared extends { readonly or: { readonly status: infer Other extends number } } ? Other : never)
  | (Declared extends { readonly unavailable: infer Failing extends number } ? Failing : never)

/** The answer that the handler of a route must return. */
type AnswerTo<Declared extends Success> = Answer<ViewOf<Declared>, StatusOf<Declared>>

/** The step-up proof that a route needs. */
export interface StepUp<Path extends string, Body = undefined> {
  readonly action: StepUpAction
  /** The path parameter that a challenge with a subject must name. */
  readonly subject?: PathParameter<Path>
  /** Only a challenge that names this subject is accepted. */
  readonly bound?: true
  /**
   * People without a second factor need no proof: they cannot give one, and this operation gives them their first
   * factor.
   */
  readonly unlessNoFactor?: true
  /** Only some bodies need the proof, so the handler checks it when it knows the body. */
  readonly byBody?: true
  /**
   * Returns the amount that the request would pay, when its body is known; null where nothing tells it. The proof is
   * needed above the operator's threshold (`payments.stepUpThreshold`), and for what has no amount.
   */
  readonly amount?: (
    request: {
      readonly tenant: Tenant
      readonly params: Readonly<Record<PathParameter<Path>, string>>
      readonly body: BodyOf<Body>
    },
    services: ReadServices,
  ) => Money | null | Promise<Money | null>
}

/** The input for finding the resource that is being changed. */
export interface CurrentContext<Path extends string> {
  readonly tenant: Tenant | null
  readonly principal: Principal | null
  readonly params: Readonly<Record<PathParameter<Path>, string>>
}

/** The declaration of an operation. */
export interface RouteDeclaration<
  M extends Method,
  Path extends string,
  Caller extends Callers,
  List,
  Query,
  Body,
  Declared extends Success,
> {
  readonly method: M
  /**
   * As in OpenAPI, without the prefix `/v1`: `/payments/{paymentId}`. Parameters are UUIDs; `{token}` is opaque text.
   */
  readonly path: Path
  /** The permitted words of path parameters that are not ids. */
  readonly words?: Readonly<Record<string, readonly string[]>>
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  readonly callers: Caller
  /** The scope that a key needs; null where any key, or none, is enough. Sessions need the capability of the scope. */
  readonly scope: Scope | null
  /**
   * The capability that a session needs where keys cannot call; any one of several. None: being signed in is enough.
   * Where keys can call, it allows a session as the capability of the scope does.
   */
  readonly capability?: Capability | readonly Capability[]
  /** The step-up proof that a session must have given within the last five minutes. */
  readonly stepUp?: StepUp<Path, Body>
  /** Permits sessions that impersonate a customer, which else read that customer's data and nothing more. */
  readonly whileImpersonating?: true
  /** Permits sessions that still need their second factor. */
  readonly beforeMfa?: true
  /**
   * `true`: clients must send `If-Match` with the tag of the resource that they change. `when sent`: the tag is
   * compared if the client sends it. Needs `current`.
   */
  readonly ifMatch?: true | 'when sent'
  /**
   * The version in the tag of `If-Match` is compared, and the rest of the tag is not: for a resource that shows members
   * which move by themselves. Its version counts the changes by people alone.
   */
  readonly ifMatchesVersion?: true
  /** Loads the resource in the path as a read would show it; null when the tenant has no such resource. */
  readonly current?: (context: CurrentContext<Path>, services: ReadServices) => Promise<Versioned<unknown> | null>
  readonly tenant: 'customer' | 'operator' | 'any' | 'none'
  /** Staff of a customer's operator read it too, with the customer as the tenant. `any` includes this. */
  readonly readByStaff?: true
  /**
   * `only`: exists only where there is a sandbox. `simulation`: in addition, only test keys and people of a developer's
   * workspace may call.
   */
  readonly sandbox?: 'only' | 'simulation'
  /** The feature that the operator can switch off together with this operation. Only where there is a tenant. */
  readonly feature?: Feature
  /**
   * How the operation uses the money of the customer that is the tenant; the customer's status may refuse it
   * (lib/customers/money-access.ts). Absent: no status refuses the operation.
   */
  readonly money?: MoneyUse
  readonly idempotency: 'required' | 'optional' | 'none'
  readonly list?: List
  /** Plain query parameters: an object of optional or required text schemas. */
  readonly query?: Query
  readonly body?: Body
  /**
   * Schema of a multipart body, for documentation; the handler reads it with `upload`. With `body`: an alternative to
   * JSON; `body` is then null.
   */
  readonly form?: TSchema
  /**
   * The body is signed by a partner: its bytes go to the handler, which verifies the signature before anything reads
   * them. The schema is for documentation alone. In place of `body`, for public operations.
   */
  readonly signedBody?: { readonly bytesMax: number; readonly schema: TSchema }
  /** Maximum size of a JSON body, where it may be larger than usual. */
  readonly bodyBytesMax?: number
  /** A request without a body is treated as `{}`. */
  readonly bodyOptional?: true
  readonly success: Declared
  /** The problems of this operation in addition to those that follow from the rest of the declaration. */
  readonly problems: readonly ProblemSlug[]
  /** Rate-limit policies in addition to those of the kind of caller; `none`: no limits at all. */
  readonly limits?: 'none' | readonly RoutePolicy[]
  /** The operation works until its sunset, and every answer says that it is deprecated. */
  readonly deprecated?: Deprecated
  /**
   * The answer holds a new token, key or secret. The node that the request reached answers it, so the secret never
   * passes between nodes.
   */
  readonly answersCredential?: true
  /** The operation is also served without the prefix `/v1`. */
  readonly atRoot?: boolean
  /**
   * Whether the resource in the path exists in the tenant. Checked only when the body is invalid, so that a missing
   * resource takes precedence over an invalid body at no cost for valid requests.
   */
  readonly exists?: (
    tenant: Tenant,
    params: Readonly<Record<PathParameter<Path>, string>>,
    services: ReadServices,
  ) => Promise<boolean>
  readonly handle: (
    context: RouteContext<Path, Caller, List, Query, Body>,
    services: M extends 'get' ? ReadServices : Services,
  ) => AnswerTo<Declared> | Promise<AnswerTo<Declared>>
}

/** A declaration without its specific types, as the route table holds it. */
export interface Route
  extends Omit<
    RouteDeclaration<Method, string, Callers, ListDeclaration, TSchema, TSchema, Success>,
    'handle' | 'exists' | 'stepUp' | 'current'
  > {
  readonly stepUp?: Omit<StepUp<string>, 'subject' | 'amount'> & {
    readonly subject?: string
    readonly amount?: (
      request: { readonly tenant: Tenant; readonly params: Readonly<Record<string, string>>; readonly body: any },
      services: ReadServices,
    ) => Money | null | Promise<Money | null>
  }
  readonly current?: (
    context: CurrentContext<string> & { readonly params: Readonly<Record<string, string>> },
    services: ReadServices,
  ) => Promise<Versioned<unknown> | null>
  readonly exists?: (
    tenant: Tenant,
    params: Readonly<Record<string, string>>,
    services: ReadServices,
  ) => Promise<boolean>
  readonly handle: (context: any, services: Services) => AnswerBytes | Promise<AnswerBytes>
}

/** Declares a route. */
export function route<
  const M extends Method,
  const Path extends string,
  const Caller extends Callers,
  List extends ListDeclaration | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Body extends TSchema | undefined = undefined,
  const Declared extends Success = Success,
>(declaration: RouteDeclaration<M, Path, Caller, List, Query, Body, Declared>): Route {
  return declaration as unknown as Route
}

/** Whether an operation reads the data of a customer, which is all that an impersonating session may do. */
export const readsCustomer = ({ method, tenant, callers }: Route): boolean =>
  method === 'get' && callers !== 'staff' && (tenant === 'customer' || tenant === 'any')

/** Form of a secret in a path. A longer or shorter text is not a secret of this service, so it is not looked up. */
export const LINK_TOKEN = /^[A-Za-z0-9_-]{20,128}$/

/** Lists the names of a path's parameters, in order. */
export function pathParameters(path: string): string[] {
  return Array.from(path.matchAll(/\{([^}]+)\}/g), (match) => match[1] as string)
}

/** When an operation was deprecated, and when it stops working. Dates in UTC, `YYYY-MM-DD`. */
export interface Deprecated {
  readonly since: string
  /** At least six months after `since`, where integrators call the operation. */
  readonly sunset?: string
}
