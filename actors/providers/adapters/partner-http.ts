/**
 * The way out of an adapter to a provider's HTTP interface. The client behind it (actors/providers/io) records each
 * call without its secrets, keeps to the rate of the connection, and bounds times and sizes.
 */
import { OperatingError } from '../../../lib/base/errors.ts'

/** An address of a provider, and how its requests prove who sends them. */
export interface PartnerEndpoint {
  /** `https://…`, without a slash at its end; `http://` only to loopback. */
  readonly baseUrl: string
  /** Per attempt, from its connection to the last byte of its answer; the wait for the connection's rate is not in it. */
  readonly timeoutMs: number
  /** The certificate and key of the client in PEM, for TLS on both sides; `ca`: trusted in place of the public ones. */
  readonly tls?: { readonly cert?: string; readonly key?: string; readonly ca?: string }
  /**
   * Returns the headers that authorise a request: a token, a signature over its bytes. Called for each attempt. They
   * are recorded nowhere.
   *
   * @param now epoch milliseconds
   */
  sign?(
    request: SignableRequest,
    now: number,
  ): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>
}

/** A request as its signature sees it. */
export interface SignableRequest {
  readonly method: PartnerRequest['method']
  /** The whole address. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Empty where the request has no body. */
  readonly body: Uint8Array
}

export interface PartnerRequest {
  /** The name under which calls are recorded and counted, such as `create_payment`: no ids, no personal data. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below the address of the endpoint, with its query; begins with a slash. */
  readonly path: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: object | string | Uint8Array
  /**
   * Whether the same request again does no harm: then it is repeated a few times when no whole answer came, or a 503. A
   * request that never left, or that the provider turned away as too many (429), is repeated in any case.
   */
  readonly repeatable: boolean
  /** True for a request of a token, as `sign` makes it: its bodies are not recorded, and it takes no turn of its own. */
  readonly confidential?: boolean
  /** The longest answer; by default 1 MiB. */
  readonly answerBytesMax?: number
}

/** An answer of the provider, whatever its status; redirects are not followed. */
export interface PartnerAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The body as JSON; undefined where it is empty or no JSON. */
  readonly json: unknown
  /** How long the attempt took that was answered. */
  readonly latencyMs: number
}

export interface PartnerHttp {
  /**
   * Sends a request.
   *
   * @throws PartnerUnreachable when the provider never got the request, so it did nothing
   * @throws PartnerSilent when it may have got the request: the outcome is unknown
   */
  send(request: PartnerRequest): Promise<PartnerAnswer>
}

/** The provider may have got the request, and gave no whole answer in time. */
export class PartnerSilent extends OperatingError {
  override readonly name = 'PartnerSilent'
}

/** The provider cannot have taken the request: no connection was made, or it turned the request away as too many. */
export class PartnerUnreachable extends OperatingError {
  override readonly name = 'PartnerUnreachable'
}
